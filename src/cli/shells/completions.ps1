# Completions of hookctl for PowerShell: it knows itself what can stand where.
Register-ArgumentCompleter -Native -CommandName hookctl -ScriptBlock {
    param($word, $ast, $cursor)
    $before = @($ast.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.Extent.Text })
    # An empty word is lost on its way to a program.
    $current = if ($word) { $word } else { '""' }
    hookctl complete -- @before $current 2>$null | ForEach-Object {
        $name, $help = $_ -split "`t", 2
        if (-not $help) { $help = $name }
        [System.Management.Automation.CompletionResult]::new($name, $name, 'ParameterValue', $help)
    }
}
