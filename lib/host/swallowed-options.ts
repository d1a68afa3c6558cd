/** The environment of a process. */
type Environment = Readonly<Record<string, string | undefined>>;

/** An option that a command knows. */
export interface KnownOption {
  /** As the help shows it, for example `--paper-port <number>`. */
  readonly flags: string;
  readonly long?: string | undefined;
  /** Whether it requires a value. */
  readonly required: boolean;
}

/** Options that npm took for itself, and the arguments of the correct command. */
export interface Swallowed {
  /** For example `--stack prod --json`. */
  readonly options: string;
  /** The arguments of the correct command; an ellipsis stands for arguments that cannot be restored. */
  readonly rightArguments: string;
}

/**
 * Finds the options that npm took for itself: without `--` before them, `npm run relay pause --stack=prod`
 * does not pass the option to the script but sets the environment variable `npm_config_stack`.
 *
 * @param script its name in package.json; npx runs a command under the name npx
 * @param given the arguments that reached the script
 * @returns null when npm took none
 * @see https://docs.npmjs.com/cli/v11/using-npm/scripts#environment
 */
export function findSwallowedOptions(
  environment: Environment,
  script: string,
  known: readonly KnownOption[],
  given: readonly string[],
): Swallowed | null {
  if (![script, 'npx'].includes(environment['npm_lifecycle_event'] ?? '')) return null;
  const found = new Map(
    known.flatMap((option) => {
      const { long = '' } = option;
      const value = environment[`npm_config_${long.replace(/^--/, '').replaceAll('-', '_')}`];
      return value === undefined ? [] : [[long, readOption(option, value)]];
    }),
  );
  if (found.size === 0) return null;
  const options = [...found.values()].map(({ text }) => text).join(' ');
  // A value that npm separated from its option is one of the arguments; which one cannot be known.
  const isWhole = [...found.values()].every(({ isValueKnown }) => isValueKnown);
  const rest = isWhole ? given.map(quoteWord) : given.slice(0, 1).map(() => '…');
  return { options, rightArguments: [...rest, options].join(' ') };
}

function readOption({ flags, long = '', required }: KnownOption, value: string) {
  // npm writes an option without a value this way.
  if (value === 'true')
    return required ? { text: flags, isValueKnown: false } : { text: long, isValueKnown: true };
  return { text: value === '' ? `${long}=` : `${long} ${quoteWord(value)}`, isValueKnown: true };
}

/** Quotes a word for a shell if necessary. */
function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
