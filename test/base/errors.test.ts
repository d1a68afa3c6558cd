import { describe, expect, test } from '@jest/globals';
import { catalogue, type ErrorCode, RelayError } from '../../lib/base/errors.ts';

const codes = Object.keys(catalogue) as ErrorCode[];

describe('the catalogue', () => {
  test('keeps the HTTP status and whether a retry may help, on which callers rely', () => {
    const rows = codes.map((code) => [code, [catalogue[code].httpStatus, catalogue[code].retryMayHelp]]);
    expect(Object.fromEntries(rows)).toMatchObject({
      unauthorized: [401, false],
      not_found: [404, false],
      method_not_allowed: [405, false],
      request_timeout: [408, true],
      body_too_large: [413, false],
      invalid_json: [400, false],
      invalid_signal: [400, false],
      stale: [400, false],
      rate_limited: [503, true],
      flooded: [429, true],
      not_stored: [503, true],
      config_invalid: [500, false],
      secrets_missing: [500, false],
      secrets_exposed: [500, false],
      data_folder_newer: [500, false],
      folder_in_use: [500, true],
      rehearsal_in_use: [409, true],
      entry_conflict: [409, false],
      message_invalid: [500, false],
      store_unavailable: [503, true],
      exchange_not_sent: [502, true],
      exchange_rate_limited: [502, true],
      exchange_rejected: [502, false],
      exchange_ambiguous: [502, false],
    });
  });

  test.each(codes)('%s is complete: a stable name, an error status, a level, and what to do', (code) => {
    const row = catalogue[code];
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(row.httpStatus).toBeGreaterThanOrEqual(400);
    expect(row.httpStatus).toBeLessThanOrEqual(599);
    expect(['info', 'warn', 'error']).toContain(row.logLevel);
    expect(row.action).toMatch(/^[A-Z].{15,}\.$/);
  });

  test.each(codes.filter((code) => catalogue[code].httpStatus >= 500 && !catalogue[code].retryMayHelp))(
    '%s needs a person, so it is loud',
    (code) => {
      expect(['warn', 'error']).toContain(catalogue[code].logLevel);
    },
  );
});

describe('RelayError', () => {
  test('carries its code, row, issues and cause', () => {
    const cause = new Error('disk full');
    const issue = { path: 'quantity', message: 'is missing', hint: 'add it' };
    const error = new RelayError('not_stored', 'the alert was not stored', { issues: [issue], cause });
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe('RelayError');
    expect(error.message).toBe('the alert was not stored');
    expect(error.code).toBe('not_stored');
    expect(error.row.httpStatus).toBe(503);
    expect(error.issues).toEqual([issue]);
    expect(error.cause).toBe(cause);
  });

  test('has no issues and no cause by default', () => {
    const error = new RelayError('stale', 'too late');
    expect(error.issues).toEqual([]);
    expect('cause' in error).toBe(false);
  });
});
