import { types } from 'node:util';

/** An error of the operating system or of Node, with its code, such as `ENOENT`. */
export interface SystemError extends Error {
  readonly code: string;
}

/** Told by what it is, not by its class: Node's own errors have another `Error` where code runs in a context of its own. */
export function isSystemError(error: unknown): error is SystemError {
  return types.isNativeError(error) && 'code' in error && typeof error.code === 'string';
}
