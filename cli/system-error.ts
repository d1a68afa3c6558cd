import { types } from 'node:util';

/** An error of the operating system or of Node, with its code, such as `ENOENT`. */
export interface SystemError extends Error {
  readonly code: string;
}

/**
 * Does not use `instanceof`: in another VM context, such as a test, Node's errors have another `Error` class.
 */
export function isSystemError(error: unknown): error is SystemError {
  return types.isNativeError(error) && 'code' in error && typeof error.code === 'string';
}
