import { RelayError } from '../base/errors.ts';
import { readJson } from '../base/json.ts';
import type { SecretIds } from './aws-secrets.ts';

/** The environment variables of a function, which the stack sets. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** @throws RelayError `config_invalid` when the variable is not set */
export function readVariable(environment: Environment, name: string): string {
  const value = environment[name] ?? '';
  if (value === '')
    throw new RelayError('config_invalid', `the environment variable ${name} is not set; deploy again`);
  return value;
}

/**
 * Reads which secret belongs to each account.
 *
 * @throws RelayError `config_invalid` when the variable is not set, or is no JSON that maps accounts to secrets
 */
export function readSecretIds(environment: Environment, name: string): SecretIds {
  const text = readVariable(environment, name);
  const ids = readJson(text);
  if (isSecretIds(ids)) return ids;
  throw new RelayError(
    'config_invalid',
    `the environment variable ${name} must map accounts to secrets, as JSON; it is ${text}`,
  );
}

function isSecretIds(value: unknown): value is SecretIds {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((id) => typeof id === 'string');
}
