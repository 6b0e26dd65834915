import type { Command, Option } from 'commander';
import type { AddCommand } from '../../command.js';
import { usageFailure } from '../../failure.js';
import { hasWords } from './completion-words.js';

/** gpu completion */
export const addCompletion: AddCommand = (program, act) => {
  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .summary('let your shell complete commands')
    .description(
      'Print a script that lets your shell complete commands, options, machines, families and templates. For bash: source <(gpu completion bash). For zsh: source <(gpu completion zsh). For fish: gpu completion fish | source',
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
  /** What the service knows words of: "machine". */
  readonly argument: string | undefined;
  /** The options whose value is such a word. */
  readonly options: readonly { readonly kind: string; readonly long: string; readonly short?: string }[];
}

function levelsOf(program: Command): Level[] {
  const global = optionsOf(program);
  const walk = (command: Command, path: string): Level[] => {
    const children = command.createHelp().visibleCommands(command);
    const level: Level = {
      path,
      words: [
        ...children.map((child) => ({ word: child.name(), about: child.summary() || child.description() })),
        ...(command === program ? [] : optionsOf(command)),
        ...global,
      ],
      argument: command.registeredArguments.map((argument) => argument.name()).find(hasWords),
      options: command.options.flatMap(takesWord),
    };
    return [level, ...children.flatMap((child) => walk(child, `${path} ${child.name()}`.trim()))];
  };
  return walk(program, '');
}

function takesWord(option: Option): Level['options'] {
  const kind = option.attributeName();
  const { long, short } = option;
  if (long === undefined || !hasWords(kind)) return [];
  return [{ kind, long, ...(short !== undefined && { short }) }];
}

function optionsOf(command: Command): Level['words'] {
  return command.options.flatMap(({ long, description }) =>
    long === undefined ? [] : [{ word: long, about: description }],
  );
}

const scripts: Readonly<Record<string, (levels: readonly Level[]) => string>> = { bash, zsh, fish };

/** Cases of a shell: the value of an option by the commands and the option before it, then the arguments of commands. */
function kindCases(
  levels: readonly Level[],
  { open, clear }: { readonly open: string; readonly clear: string },
): string {
  const ofOptions = levels.flatMap(({ path, options }) =>
    options.map(({ kind, long, short }) => {
      const given = [long, ...(short === undefined ? [] : [short])].map((flag) => `"${path} ${flag}"`);
      return `    ${open}${given.join('|')}) kind=${kind}; ${clear} ;;`;
    }),
  );
  const ofArguments = levels.flatMap(({ path, argument }) =>
    argument === undefined ? [] : [`    ${open}"${path} "*) kind=${argument} ;;`],
  );
  return [...ofOptions, ...ofArguments].join('\n');
}

/** The commands of a line are its first words that are no options, as far as there are such commands. */
function bash(levels: readonly Level[]): string {
  return `# bash completion of gpu
_gpu() {
  local word path="" next kind=""
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
  case "$path \${COMP_WORDS[COMP_CWORD-1]}" in
${kindCases(levels, { open: '', clear: 'words=""' })}
  esac
  if [[ -n $kind && \${COMP_WORDS[COMP_CWORD]} != -* ]]; then
    words="$words $(gpu completion-words "$kind" 2>/dev/null)"
  fi
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
  local word path_="" next kind=""
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
  case "$path_ $words[CURRENT-1]" in
${kindCases(levels, { open: '(', clear: 'offered=()' })}
  esac
  if [[ -n $kind && $words[CURRENT] != -* ]]; then
    offered+=(\${(f)"$(gpu completion-words $kind 2>/dev/null)"})
  fi
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
${levels.flatMap((level) => fishLines(level, quoted)).join('\n')}`;
}

function fishLines({ path, words, argument, options }: Level, quoted: (text: string) => string): string[] {
  const when = `complete -c gpu -n ${quoted(`__gpu_path "${path}"`)}`;
  const known = (kind: string): string => `-a '(gpu completion-words ${kind} 2>/dev/null)'`;
  const what = (word: string): string => {
    if (!word.startsWith('--')) return `-f -a ${quoted(word)}`;
    const option = options.find(({ long }) => long === word);
    if (!option) return `-l ${word.slice(2)}`;
    const short = option.short === undefined ? '' : `-s ${option.short.slice(1)} `;
    return `-l ${word.slice(2)} ${short}-x ${known(option.kind)}`;
  };
  return [
    ...words.map(({ word, about }) => `${when} ${what(word)} -d ${quoted(about)}`),
    ...(argument === undefined ? [] : [`${when} -f ${known(argument)}`]),
  ];
}
