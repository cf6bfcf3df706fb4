#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion of the command for bash, zsh and fish, made from --help of every command and its lists of names.

usage: completion.py BASH ZSH FISH HALFULP    (three files to write, and the built command)"""
import json
import pathlib
import re
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / 'docs' / 'man'))
import command_pages  # noqa: E402

# The name of an option's argument in --help: the list that it is completed from. Others are files.
KINDS = {'FORMAT': 'format', 'MODEL': 'model', 'MODE': 'mode', 'POLICY': 'policy', 'WHEN': 'when', 'DEVICE': 'device'}
FREE = ('N', 'K', 'C', 'R', 'I/N', 'A', 'SEED', 'KEY=VALUE', 'KEY', 'VALUES', 'LEVEL', 'GLOB', 'RULE', 'WHICH', 'LIST', 'POINTS', 'KIND', 'REDUCE')
# Commands whose first operand is a name.
OPERANDS = {'info': 'format', 'mma': 'model', 'models': 'model', 'presets': 'preset', 'experiment': 'experiment', 'help': 'command'}
# Where FORMAT may also be a scaled format, another number system or a preset.
ARRAYS = ('quantize', 'compare', 'encode', 'decode')


def run(halfulp, *words):
    done = subprocess.run([halfulp, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout if done.returncode == 0 else ''


def names(halfulp, *words):
    text = run(halfulp, *words, '--json')
    return [entry['id'] for entry in json.loads(text)] if text else []


def lists(halfulp):
    formats = names(halfulp, 'formats')
    wide = formats + names(halfulp, 'formats', '--scaled') + ['s2fp8'] + names(halfulp, 'presets')
    return {'format': formats, 'target': list(dict.fromkeys(wide)), 'model': names(halfulp, 'models'),
            'preset': names(halfulp, 'presets'), 'experiment': names(halfulp, 'experiment'),
            'mode': re.findall(r'^      (r[a-z]{2}|sr[a-z]:)N? ', run(halfulp, 'help', 'rounding'), re.M),
            'policy': ['default', 'none', 'finite', 'propagate', 'max', 'zero', 'error'], 'when': ['before', 'after'],
            'device': ['cpu', 'cuda'], 'command': [name for name, _ in command_pages.commands()] + ['help', 'version', 'rounding']}


class Option:
    """An option as --help shows it: "-f, --format FORMAT"."""

    def __init__(self, command, shown, text):
        self.short, self.long, value = re.fullmatch(r'(?:-(\w), )?--(\S+)(?: (.*))?', shown).groups()
        self.text, self.takes = text.split(';')[0], value is not None
        kind = KINDS.get((value or '').split()[0] if value else '')
        self.kind = 'target' if kind == 'format' and command in ARRAYS else kind
        self.file = self.takes and not self.kind and value not in FREE

    def words(self):
        return (['-' + self.short] if self.short else []) + ['--' + self.long]


def options(halfulp, command):
    _, _, listed = run(halfulp, command, '--help').partition('\nExamples:\n')[0].partition('\nOptions:\n')
    return [Option(command, shown, text) for shown, text in command_pages.options(listed)]


# ---- bash ----

BASH = '''# SPDX-License-Identifier: MIT
# Completion of halfulp for bash.
@LISTS@
_halfulp() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}" command at=1 words kind operands
  COMPREPLY=()
  while [ "$at" -lt "$COMP_CWORD" ] && [[ " -q --quiet --json " == *" ${COMP_WORDS[at]} "* ]]; do at=$((at + 1)); done
  command="${COMP_WORDS[at]}"
  if [ "$COMP_CWORD" -eq "$at" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$_halfulp_command --help --version --json --quiet" -- "$current")
    return
  fi
  case "$command" in
@COMMANDS@
    *) return ;;
  esac
  case " $command $previous " in
@VALUES@
  esac
  if [ -n "$kind" ]; then
    case "$kind" in
      file) compopt -o default 2> /dev/null ;;
      none) ;;
      *)
        local list="_halfulp_$kind"
        mapfile -t COMPREPLY < <(compgen -W "${!list}" -- "$current")
        ;;
    esac
  elif [ "${current:0:1}" = - ]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  elif [ -n "$operands" ]; then
    local list="_halfulp_$operands"
    mapfile -t COMPREPLY < <(compgen -W "${!list}" -- "$current")
  else
    compopt -o default 2> /dev/null
  fi
}
complete -F _halfulp halfulp
'''


def bash(every, table):
    commands, values = [], {}
    for command, all_options in every.items():
        words = ' '.join(word for o in all_options for word in o.words())
        commands.append("    %s) words='%s' operands=%s ;;" % (command, words, OPERANDS.get(command, '')))
        for o in all_options:
            if o.takes:
                kind = o.kind or ('file' if o.file else 'none')
                values.setdefault(kind, []).extend('" %s %s "' % (command, word) for word in o.words())
    cases = ['    %s) kind=%s ;;' % (' | '.join(patterns), kind) for kind, patterns in sorted(values.items())]
    text = BASH.replace('@LISTS@', '\n'.join("_halfulp_%s='%s'" % (kind, ' '.join(table[kind])) for kind in sorted(table)))
    return text.replace('@COMMANDS@', '\n'.join(commands)).replace('@VALUES@', '\n'.join(cases))


# ---- zsh ----

def zsh_text(text):
    return re.sub(r"[\[\]:\\]", lambda m: '\\' + m[0], text).replace("'", "'\\''")


def zsh(every, table):
    lines = ['#compdef halfulp', '# SPDX-License-Identifier: MIT', '# Completion of halfulp for zsh.', '']
    lines += ['_halfulp_%s() { compadd -- %s }' % (kind, ' '.join(map(shlex.quote, table[kind]))) for kind in sorted(table)]
    lines += ['', '_halfulp() {', '  if (( CURRENT == 2 )); then', '    _halfulp_command', '    return', '  fi',
              '  local command=$words[2]', '  shift words', '  (( CURRENT-- ))', '  case $command in']
    for command, all_options in every.items():
        lines.append('    %s)' % command)
        lines.append('      _arguments \\')
        for o in all_options:
            action = ':%s:%s' % (o.kind or 'value', '_halfulp_' + o.kind if o.kind else '_files' if o.file else ' ') if o.takes else ''
            for word in o.words():
                lines.append("        '*%s[%s]%s' \\" % (word, zsh_text(o.text), action))
        lines.append("        '*:operand:%s'" % ('_halfulp_' + OPERANDS[command] if command in OPERANDS else '_files'))
        lines.append('      ;;')
    return '\n'.join(lines + ['  esac', '}', '', '_halfulp "$@"', ''])


# ---- fish ----

def fish_text(text):
    return text.replace('\\', '\\\\').replace("'", "\\'")


def fish(every, table, summaries):
    lines = ['# SPDX-License-Identifier: MIT', '# Completion of halfulp for fish.']
    # fish runs what stands in parentheses, also in the values of a list.
    lines += ["set -g _halfulp_%s %s" % (kind, ' '.join(name for name in table[kind] if '(' not in name)) for kind in sorted(table)]
    for command, all_options in every.items():
        lines.append("complete -c halfulp -n __fish_use_subcommand -f -a %s -d '%s'" % (command, fish_text(summaries.get(command, ''))))
        seen = "complete -c halfulp -n '__fish_seen_subcommand_from %s'" % command
        for o in all_options:
            line = seen + (' -s ' + o.short if o.short else '') + ' -l ' + o.long
            if o.takes:
                line += ' -r' if o.file else ' -x' + (' -a "$_halfulp_%s"' % o.kind if o.kind else '')
            lines.append(line + " -d '%s'" % fish_text(o.text))
        if command in OPERANDS:
            lines.append(seen + ' -f -a "$_halfulp_%s"' % OPERANDS[command])
    return '\n'.join(lines) + '\n'


def main(bash_file, zsh_file, fish_file, halfulp):
    summaries = dict(command_pages.commands())
    every = {command: options(halfulp, command) for command in summaries}
    every['help'] = []
    table = lists(halfulp)
    for path, text in ((bash_file, bash(every, table)), (zsh_file, zsh(every, table)), (fish_file, fish(every, table, summaries))):
        pathlib.Path(path).write_text(text, encoding='utf-8')


if __name__ == '__main__':
    main(*sys.argv[1:])
