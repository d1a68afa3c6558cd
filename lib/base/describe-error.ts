import { RelayError } from './errors.ts';

/** What went wrong, in the words of whoever threw it. Of a library's error they come with its kind. */
export function describeError(error: unknown): string {
  if (!Error.isError(error)) return 'something that is no error was thrown';
  const { name, message } = error;
  return error instanceof RelayError || name === 'Error' ? message : `${name}: ${message}`;
}

/** The same for readers who must see no secret: only the relay's own words are known to hold none. */
export function describeSafely(error: unknown): string {
  if (error instanceof RelayError) return error.message;
  return `unexpected ${Error.isError(error) ? error.name : 'failure'}`;
}
