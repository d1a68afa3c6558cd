import { hash } from 'node:crypto';
import { refusalPrefixOf } from '../model/refusal-prefix.ts';

const derivedPrefix = 'h-';
const refusalPrefix = 'refused-';
const explicitIdPattern = /^[A-Za-z0-9._:-]{1,64}$/;
/** 128 bits: enough that two alerts never share them by chance. */
const derivedIdDigits = 32;
/** Tells apart the refused alerts of one id, which are few. */
const refusalDigits = 12;
const clientOrderIdPrefix = 'tr-';
/** The exchange recommends at most this many characters. */
const clientOrderIdLength = 32;

/**
 * What tells one alert's bytes from another's.
 *
 * @returns SHA-256 in lower-case hex
 */
export function fingerprintOf(body: Uint8Array): string {
  return hash('sha256', body, 'hex');
}

/** Whether a text can be a signal's id, its own or a derived one. */
export function isSignalId(text: string): boolean {
  return explicitIdPattern.test(text) && !text.startsWith(refusalPrefix);
}

/** Whether an alert may choose this id: one that can never be mistaken for a derived one. */
export function isExplicitId(text: string): boolean {
  return isSignalId(text) && !text.startsWith(derivedPrefix);
}

/**
 * The id of a signal: the alert's own, or one derived from the alert's bytes, the same on every resend.
 *
 * @param fingerprint of the whole body
 * @param index of the signal when the alert is an array, else null
 * @returns the explicit id, `h-<32 hex>` or `h-<32 hex>-<index>`
 */
export function signalIdOf(explicitId: string | null, fingerprint: string, index: number | null): string {
  if (explicitId !== null) return explicitId;
  const derived = `${derivedPrefix}${fingerprint.slice(0, derivedIdDigits)}`;
  return index === null ? derived : `${derived}-${index}`;
}

/**
 * The id under which a refused alert is recorded; no signal ever has one like it, so that a refusal never stands in
 * the way of the alert when it comes again and is taken.
 *
 * @param explicitId the alert's own, by which its owner looks for it; null when it has none that can be read
 * @returns `<id>@refused-<12 hex>`, or `refused-<32 hex>`
 */
export function refusalIdOf(fingerprint: string, explicitId: string | null): string {
  return explicitId === null
    ? `${refusalPrefix}${fingerprint.slice(0, derivedIdDigits)}`
    : `${refusalPrefixOf(explicitId)}${refusalPrefix}${fingerprint.slice(0, refusalDigits)}`;
}

/**
 * The id by which the exchange knows the order of a signal: the same on every resend, redelivery and re-run.
 *
 * @returns 32 characters of `[a-z0-9-]`
 * @see https://docs.whitebit.com the exchange takes letters, digits and dashes, 32 characters recommended
 */
export function clientOrderIdOf(account: string, signalId: string): string {
  // A signal id has no line break, so no two pairs make the same text.
  const digest = hash('sha256', `${account}\n${signalId}`, 'hex');
  return `${clientOrderIdPrefix}${digest}`.slice(0, clientOrderIdLength);
}
