//! PowerShell: cmdlets and their targets.

use super::*;

/// What PowerShell's commands do: names, then a role for the first operand.
const CMDLETS: &[(&str, &str)] = &[
    (" remove-item ri rm del erase rmdir rd clear-recyclebin remove-itemproperty ", "delete"),
    (
        " set-content sc out-file add-content ac tee-object new-item ni export-csv export-clixml clear-content mkdir md ",
        "write",
    ),
    (" get-content gc cat type get-childitem gci ls dir import-csv select-string ", "read"),
    (" move-item mi mv move rename-item ren ", "move"),
    (" copy-item ci cp copy cpi ", "copy"),
    (" invoke-webrequest iwr curl wget invoke-restmethod irm start-bitstransfer ", "url"),
    (" invoke-expression iex ", "iex"),
    (" start-process saps start invoke-command icm ", "run"),
    (" stop-process kill spps ", "process"),
    (
        " stop-computer restart-computer format-volume clear-disk initialize-disk remove-partition stop-service set-service set-executionpolicy ",
        "system",
    ),
    (" import-module ipmo add-type invoke-item ii ", "hide"),
];

/// PowerShell, statement by statement.
pub fn powershell(sink: &mut Sink, text: &str) {
    let encoded =
        text.len() > 40 && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
    if encoded {
        sink.hide("an encoded PowerShell command");
        return;
    }
    let mut fetched = false;
    for statement in text.split([';', '\n', '|', '&', '{', '}', '(', ')']) {
        let words = words(statement);
        let first = words
            .iter()
            .position(|w| !w.is_empty() && w != "=" && !w.starts_with('$'))
            .unwrap_or(0);
        let Some(name) = words.get(first) else { continue };
        let name = name.to_ascii_lowercase();
        if statement.to_ascii_lowercase().contains("downloadstring")
            || statement.to_ascii_lowercase().contains("downloadfile")
        {
            fetched = true;
            sink.push(Word::Network);
        }
        if statement.contains("[System.IO.")
            || statement.contains("[IO.")
            || statement.contains("::") && !statement.contains("::Now")
        {
            sink.hide("PowerShell that calls .NET");
        }
        let Some((_, role)) =
            CMDLETS.iter().find(|(names, _)| names.contains(&format!(" {name} ")))
        else {
            continue;
        };
        // Operands: what is no option, and the values of the options that name paths.
        let mut operands: Vec<&str> = Vec::new();
        let mut recurse = false;
        let mut skip = false;
        for word in &words[first + 1..] {
            let lower = word.to_ascii_lowercase();
            if lower.starts_with('-') && lower.len() > 1 {
                recurse |= lower.starts_with("-r");
                skip = matches!(
                    lower.as_str(),
                    "-value"
                        | "-filter"
                        | "-include"
                        | "-exclude"
                        | "-erroraction"
                        | "-ea"
                        | "-encoding"
                        | "-itemtype"
                        | "-type"
                        | "-method"
                        | "-argumentlist"
                        | "-body"
                        | "-headers"
                        | "-outfile"
                        | "-o"
                );
                continue;
            }
            if !std::mem::take(&mut skip) {
                operands.push(word);
            }
        }
        let extent = if recurse { Extent::Tree } else { Extent::Exact };
        let operand = operands.first().copied().unwrap_or("$input").replace('\\', "/");
        match *role {
            "delete" => {
                for operand in
                    operands.iter().copied().chain(operands.is_empty().then_some("$input"))
                {
                    sink.path(Word::Delete, &operand.replace('\\', "/"), extent);
                }
            }
            "write" => sink.path(Word::Write, &operand, Extent::Exact),
            "read" if operand != "$input" => sink.path(Word::Read, &operand, extent),
            "move" | "copy" => {
                sink.path(Word::Read, &operand, extent);
                if *role == "move" {
                    sink.path(Word::Delete, &operand, Extent::Tree);
                }
                sink.path(
                    Word::Write,
                    &operands.get(1).copied().unwrap_or(".").replace('\\', "/"),
                    extent,
                );
            }
            "url" => {
                fetched = true;
                let value = sink.value(&operand);
                let send = statement.to_ascii_lowercase().contains("-body")
                    || statement.to_ascii_lowercase().contains("-infile");
                sink.out.contact(&value, send, Source::Code);
            }
            "iex"
                if fetched
                    || text.to_ascii_lowercase().contains("iwr")
                    || text.to_ascii_lowercase().contains("downloadstring") =>
            {
                sink.push(Word::PipeToInterpreter)
            }
            "iex" | "hide" => sink.hide("PowerShell that runs text"),
            "run" => {
                let words: Vec<Value> = operands.iter().map(|w| sink.value(w)).collect();
                sink.next.push(Next::Words { words, cwd: None, feeds: false });
            }
            "process" => sink.push(Word::Process),
            "system" => sink.push(Word::System),
            _ => {}
        }
    }
}
