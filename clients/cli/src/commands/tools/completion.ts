import type { Command } from 'commander';
import type { AddCommand } from '../../command.js';
import { usageFailure } from '../../failure.js';

/** gpu completion */
export const addCompletion: AddCommand = (program, act) => {
  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .summary('let your shell complete commands')
    .description(
      'Print a script that lets your shell complete commands and options. For bash: source <(gpu completion bash). For zsh: source <(gpu completion zsh). For fish: gpu completion fish | source',
    )
    .action(
      act(async (cli, shell: string) => {
        const write = scripts[shell];
        if (!write) throw usageFailure(`There is no completion for "${shell}".`, 'Name bash, zsh or fish.');
        const script = write(levelsOf(program));
        cli.out.result({ shell, script }, () => [script]);
        return Promise.resolve(undefined);
      }),
    );
};

/** The words that may come after some words of the command line: "keys" -> "create", "revoke", "--json". */
interface Level {
  /** "", "keys", "keys ssh" */
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly about: string }[];
}

function levelsOf(program: Command): Level[] {
  const global = optionsOf(program);
  const walk = (command: Command, path: string): Level[] => {
    const children = command.commands.filter((child) => child.name() !== 'help');
    const level: Level = {
      path,
      words: [
        ...children.map((child) => ({ word: child.name(), about: child.summary() || child.description() })),
        ...(command === program ? [] : optionsOf(command)),
        ...global,
      ],
    };
    return [level, ...children.flatMap((child) => walk(child, `${path} ${child.name()}`.trim()))];
  };
  return walk(program, '');
}

function optionsOf(command: Command): Level['words'] {
  return command.options.flatMap(({ long, description }) =>
    long === undefined ? [] : [{ word: long, about: description }],
  );
}

const scripts: Readonly<Record<string, (levels: readonly Level[]) => string>> = { bash, zsh, fish };

/** The commands of a line are its first words that are no options, as far as there are such commands. */
function bash(levels: readonly Level[]): string {
  return `# bash completion of gpu
_gpu() {
  local word path="" next
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case "$next" in
      ${levels
        .filter(({ path }) => path !== '')
        .map(({ path }) => `"${path}"`)
        .join('|')}) path="$next" ;;
    esac
  done
  local words=""
  case "$path" in
${levels.map(({ path, words }) => `    "${path}") words="${words.map(({ word }) => word).join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [[ \${#COMPREPLY[@]} -gt 0 ]] || compopt -o default
}
complete -F _gpu gpu`;
}

function zsh(levels: readonly Level[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
  const described = ({ word, about }: Level['words'][number]): string =>
    quoted(`${word.replaceAll(':', '\\:')}:${about}`);
  return `#compdef gpu
_gpu() {
  local word path_="" next
  local -a offered
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next="\${path_:+$path_ }$word"
    case "$next" in
      (${levels
        .filter(({ path }) => path !== '')
        .map(({ path }) => `"${path}"`)
        .join('|')}) path_="$next" ;;
    esac
  done
  case "$path_" in
${levels.map(({ path, words }) => `    ("${path}") offered=(${words.map(described).join(' ')}) ;;`).join('\n')}
  esac
  _describe gpu offered || _files
}
compdef _gpu gpu`;
}

function fish(levels: readonly Level[]): string {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const known = levels.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  return `# fish completion of gpu
function __gpu_path
  set -l path
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$path $word")
    contains -- $next ${known.join(' ')}; and set path $next
  end
  test "$path" = "$argv[1]"
end
${levels.flatMap(({ path, words }) => words.map((each) => fishLine(path, each, quoted))).join('\n')}`;
}

function fishLine(
  path: string,
  { word, about }: Level['words'][number],
  quoted: (text: string) => string,
): string {
  const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-f -a ${quoted(word)}`;
  return `complete -c gpu -n ${quoted(`__gpu_path "${path}"`)} ${what} -d ${quoted(about)}`;
}
