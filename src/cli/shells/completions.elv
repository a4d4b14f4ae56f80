# Completions of hookctl for Elvish: it knows itself what can stand where.
use str
set edit:completion:arg-completer[hookctl] = {|@words|
    hookctl complete -- (all $words[1..]) 2>/dev/null | from-lines | each {|line|
        var name help = (str:split &max=2 "\t" $line)
        edit:complex-candidate $name &display=$name' '$help
    }
}
