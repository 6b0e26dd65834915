import { Transform, type Writable } from 'node:stream';
import { Failure, usageFailure } from '../failure.js';
import { hasColours } from '../output/colour.js';
import { plain } from '../output/text.js';
import type { OutStream, Surroundings } from '../surroundings.js';

/** What a question is about, and how to answer it where nobody can be asked. */
export interface Question {
  readonly message: string;
  /** The option by which a script answers: "Add --yes to rent without being asked." */
  readonly otherwise: string;
  /** What is true after ctrl-C: "Nothing was rented." */
  readonly givenUp: string;
}

/**
 * Asks at the terminal. Where there is none it refuses before it prints anything: a program that waits for an answer
 * would wait for ever.
 */
export class Asking {
  constructor(
    private readonly surroundings: Pick<Surroundings, 'stdin' | 'stderr' | 'env'>,
    private readonly answersYes: boolean,
  ) {}

  /** True when somebody is there to answer. */
  get canAsk(): boolean {
    const { stdin, stderr } = this.surroundings;
    return stdin.isTTY === true && stderr.isTTY === true;
  }

  /** Asks for a yes or no; --yes answers it. */
  async agree(question: Question): Promise<boolean> {
    if (this.answersYes) return true;
    const common = this.#begin(question);
    const { confirm } = await prompts();
    return answerOf(
      question,
      await confirm({ message: plain(question.message), initialValue: true, ...common }),
    );
  }

  /** Asks for a line of text. @param fault what is wrong with a text, or undefined */
  async line(question: Question, fault: (text: string) => string | undefined): Promise<string> {
    const common = this.#begin(question);
    const validate = (given: string | undefined) => fault((given ?? '').trim());
    const { text } = await prompts();
    return answerOf(question, await text({ message: plain(question.message), validate, ...common })).trim();
  }

  /** Asks for a text that the screen does not show. */
  async secret(question: Question): Promise<string> {
    const common = this.#begin(question);
    const { password } = await prompts();
    return answerOf(question, await password({ message: plain(question.message), ...common })).trim();
  }

  /** Asks for one of several. */
  async choice<Value extends string>(
    question: Question,
    options: readonly { readonly value: Value; readonly label: string; readonly hint?: string }[],
  ): Promise<Value> {
    const common = this.#begin(question);
    const { select } = await prompts();
    const answer = await select<string>({
      message: plain(question.message),
      options: options.map(({ value, label, hint }) => ({
        value,
        label: plain(label),
        ...(hint !== undefined && { hint: plain(hint) }),
      })),
      maxItems: 12,
      ...common,
    });
    return answerOf(question, answer) as Value;
  }

  #begin(question: Question): { input: Surroundings['stdin']; output: Writable } {
    if (!this.canAsk) {
      throw usageFailure(
        `"${question.message}" can’t be answered here, because this is not a terminal.`,
        question.otherwise,
      );
    }
    const { stdin, stderr, env } = this.surroundings;
    return { input: stdin, output: hasColours(stderr, env) ? stderr : withoutColours(stderr) };
  }
}

/** Most commands ask nothing, and start sooner without it. */
const prompts = () => import('@clack/prompts');

/** A symbol is how the prompts say that ctrl-C was pressed. */
function answerOf<Answer>(question: Question, answer: Answer): Exclude<Answer, symbol> {
  if (typeof answer === 'symbol') throw new Failure('givenUp', question.givenUp);
  return answer as Exclude<Answer, symbol>;
}

const colours = new RegExp(String.raw`\u001b\[[0-9;]*m`, 'g');

/** The same terminal, with colours taken out of what is written. The prompts know nothing of NO_COLOR. */
function withoutColours(stream: OutStream): Writable {
  const filter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, chunk.toString().replace(colours, ''));
    },
  });
  filter.pipe(stream, { end: false });
  const { columns, isTTY } = stream;
  return Object.assign(filter, { columns, isTTY, rows: 'rows' in stream ? stream.rows : undefined });
}
