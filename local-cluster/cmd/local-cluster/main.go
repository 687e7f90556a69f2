// Command local-cluster runs Kubernetes on this machine, from upstream's own sources: one real node with Ray, or just
// an API.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"localcluster/internal/progress"
)

// command is one subcommand; a group has commands instead of run.
type command struct {
	name, arguments, help string
	run                   func(log *progress.Log, args []string) error
	commands              []command
	// hidden commands are those this tool starts itself with.
	hidden bool
}

// errUsage is returned after the usage was printed.
var errUsage = errors.New("usage")

// exitCode makes main exit with that code and print nothing more.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func commands() []command {
	return append(nodeCommands(), imageCommands(), apiCommands(), kwokCommand(), buildCommand())
}

func main() {
	// Progress goes to standard error: standard output is for what was asked for.
	err := dispatch("local-cluster", commands(), progress.New(os.Stderr), os.Args[1:])
	var code exitCode
	switch {
	case err == nil:
	case errors.As(err, &code):
		os.Exit(int(code))
	case errors.Is(err, errUsage):
		os.Exit(2)
	default:
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func dispatch(path string, commands []command, log *progress.Log, args []string) error {
	if len(args) > 0 {
		for _, c := range commands {
			if c.name == args[0] {
				if c.commands != nil {
					return dispatch(path+" "+c.name, c.commands, log, args[1:])
				}
				return c.run(log, args[1:])
			}
		}
	}
	asked := len(args) > 0 && (args[0] == "help" || args[0] == "-h" || args[0] == "--help")
	out := os.Stderr
	if asked {
		out = os.Stdout
	} else if len(args) > 0 {
		fmt.Fprintf(out, "unknown command %q\n\n", args[0])
	}
	fmt.Fprintf(out, "usage: %s COMMAND\n\n", path)
	printCommands(out, "", commands)
	fmt.Fprintf(out, "\n%s COMMAND -h explains the flags of a command.\n", path)
	if asked {
		return nil
	}
	return errUsage
}

func printCommands(out *os.File, prefix string, commands []command) {
	for _, c := range commands {
		switch {
		case c.hidden: // of no use to users
		case c.commands != nil:
			printCommands(out, prefix+c.name+" ", c.commands)
		default:
			fmt.Fprintf(out, "  %-42s %s\n", strings.TrimSpace(prefix+c.name+" "+c.arguments), c.help)
		}
	}
}

// parse reads the flags of a command and refuses other arguments unless some are wanted.
func parse(flags *flag.FlagSet, args []string, wantArguments bool) error {
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitCode(0)
		}
		return errUsage
	}
	if !wantArguments && flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "unexpected argument %q\n", flags.Arg(0))
		flags.Usage()
		return errUsage
	}
	return nil
}

// list is a flag that may be given several times, or once with commas.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

func (l *list) Set(value string) error {
	*l = append(*l, strings.Split(value, ",")...)
	return nil
}
