# What hookctl asks for: data.hookctl.decision, about the event in `input`. OPA 1.0 or later.
package hookctl

# It always has a value: a hookctl that finds none knows that this policy is not loaded.
decision := {"deny": deny, "ask": ask}

# A plain --force overwrites what others pushed; --force-with-lease looks first.
deny contains "A force push overwrites the work of others: use --force-with-lease." if {
	some command in commands
	regex.match(`^git\s(.*\s)?push\s`, command)
	regex.match(`\s(--force|-[a-zA-Z]*f[a-zA-Z]*|\+\S+)(\s|$)`, command)
}

deny contains "Production is changed by people, not from here." if {
	some command in commands
	production(command)
	some word in regex.split(`\s+`, command)
	word in changes
}

ask contains "This looks into production." if {
	some command in commands
	production(command)
}

production(command) if regex.match(`^kubectl\s(.*\s)?--context[=\s]prod`, command)

production(command) if regex.match(`^helm\s(.*\s)?--kube-context[=\s]prod`, command)

changes := {
	"annotate", "apply", "attach", "cordon", "cp", "create", "debug", "delete", "drain", "edit", "exec",
	"install", "label", "patch", "port-forward", "replace", "restart", "rollback", "run", "scale", "set",
	"taint", "uncordon", "undo", "uninstall", "upgrade",
}

# The parts of the command line, split plainly: hookctl, which reads the shell's whole grammar, says
# which calls get here at all.
commands contains trim_space(part) if {
	input.event == "PreToolUse"
	input.tool.name == "Bash"
	some part in regex.split(`[;&|\n]+`, input.tool.input.command)
}
