/** The environment of a process. */
type Environment = Readonly<Record<string, string | undefined>>;

/** An option that a command knows. */
export interface KnownOption {
  /** As its help shows it, for example `--paper-port <number>`. */
  readonly flags: string;
  readonly long?: string | undefined;
  /** Whether a value has to follow it. */
  readonly required: boolean;
}

/** Options that npm took for its own, and what should have been typed. */
export interface Swallowed {
  /** For example `--stack prod --json`. */
  readonly options: string;
  /** The arguments of the right command; what nobody can tell any more is an ellipsis. */
  readonly rightArguments: string;
}

/**
 * Finds the options that npm took for its own: without `--` before them, `npm run relay pause --stack=prod` gives the
 * script no option, but the environment `npm_config_stack`.
 *
 * @param script as package.json names it; npx runs a command under the name npx
 * @param given the arguments that were left to the script
 * @returns null when there are none
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
  // A value that npm parted from its option is among the arguments, and nobody can tell which it is.
  const isWhole = [...found.values()].every(({ isValueKnown }) => isValueKnown);
  const rest = isWhole ? given.map(quoteWord) : given.slice(0, 1).map(() => '…');
  return { options, rightArguments: [...rest, options].join(' ') };
}

function readOption({ flags, long = '', required }: KnownOption, value: string) {
  // So npm writes an option without a value.
  if (value === 'true')
    return required ? { text: flags, isValueKnown: false } : { text: long, isValueKnown: true };
  return { text: value === '' ? `${long}=` : `${long} ${quoteWord(value)}`, isValueKnown: true };
}

/** A word as a shell reads it. */
function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
