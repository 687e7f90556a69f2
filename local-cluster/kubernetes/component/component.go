// Package component lets one executable be several programs: the first argument names the one to run.
//
// Programs that share most of their code share it in memory too when they are one file on disk, and the
// linker, which takes half a minute for a Kubernetes component, runs once.
package component

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

// Run starts the program that the first argument names. The program sees the remaining arguments, with its own
// name as argument zero.
func Run(programs map[string]func()) {
	if len(os.Args) > 1 {
		if program, found := programs[os.Args[1]]; found {
			os.Args = os.Args[1:]
			program()
			return
		}
	}
	names := make([]string, 0, len(programs))
	for name := range programs {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Fprintf(os.Stderr, "usage: %s {%s} [ARGUMENT...]\n", os.Args[0], strings.Join(names, "|"))
	os.Exit(2)
}
