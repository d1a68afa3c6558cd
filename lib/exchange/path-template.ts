import { RelayError } from '../base/errors.ts';

/** `{market}` in a path stands for the parameter of that name. */
const placeholder = /\{(\w+)\}/g;

/** A path whose placeholders are filled, and the fields that none of them took. */
export interface FilledPath {
  readonly path: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Puts fields into the placeholders of a path. A field that stands in the path is not sent a second time.
 *
 * @param fields under their wire names
 * @throws RelayError `exchange_request_invalid` when a placeholder has no field
 */
export function fillPath(template: string, fields: Readonly<Record<string, unknown>>): FilledPath {
  const rest = { ...fields };
  const path = template.replaceAll(placeholder, (_, name: string) => {
    const value = rest[name];
    if (typeof value !== 'string' || value === '' || isDots(value))
      throw new RelayError(
        'exchange_request_invalid',
        `the path ${template} needs a text for ${name}; nothing was sent`,
      );
    delete rest[name];
    return encodeURIComponent(value);
  });
  return { path, fields: rest };
}

/** A URL parser would read it as "this folder" or "the folder above", however it is encoded. */
function isDots(value: string): boolean {
  return value === '.' || value === '..';
}
