import { hash } from 'node:crypto';
import { refusalPrefixOf } from '../model/refusal-prefix.ts';

const derivedPrefix = 'h-';
const refusalPrefix = 'refused-';
const explicitIdPattern = /^[A-Za-z0-9._:-]{1,64}$/;
/** 128 bits: two different alerts never have the same digits by chance. */
const derivedIdDigits = 32;
/** Enough to distinguish the few refused alerts that share one id. */
const refusalDigits = 12;
const clientOrderIdPrefix = 'tr-';
/** The length that the exchange recommends as a maximum. */
const clientOrderIdLength = 32;

/**
 * The fingerprint of an alert's bytes. Equal bytes have equal fingerprints.
 *
 * @returns SHA-256 in lower-case hex
 * @see DECISIONS 17
 */
export function fingerprintOf(body: Uint8Array): string {
  return hash('sha256', body, 'hex');
}

/**
 * The fingerprint of one arrival of an alert, for what must differ from the next arrival of the same bytes.
 *
 * @param fingerprint of the alert's bytes
 * @returns SHA-256 in lower-case hex
 */
export function arrivalFingerprintOf(fingerprint: string, arrivedAtMs: number): string {
  return hash('sha256', `${fingerprint}\n${arrivedAtMs}`, 'hex');
}

/** The fingerprint of one repeat of an alert: it differs from that of another repeat in the same millisecond. */
export function repeatFingerprintOf(fingerprint: string, arrivedAtMs: number, name: string): string {
  return hash('sha256', `${fingerprint}\n${arrivedAtMs}\n${name}`, 'hex');
}

const clientOrderIdPattern = /^tr-[0-9a-f]{29}$/;

/** Whether a relay, this one or another, has named an order so. */
export function isClientOrderId(text: string): boolean {
  return clientOrderIdPattern.test(text);
}

const reduceSuffix = ':reduce';
/** An alert that may need two orders needs room for the suffix in its id. */
export const longestIdOfTwoLegs = 64 - reduceSuffix.length;

/** The id of the signal that reduces the position before the one with this id opens one. */
export function reduceLegIdOf(signalId: string): string {
  return `${signalId}${reduceSuffix}`;
}

/** Whether a text can be the id of a signal, explicit or derived. */
export function isSignalId(text: string): boolean {
  return explicitIdPattern.test(text) && !text.startsWith(refusalPrefix);
}

/** Whether an alert may choose this id. Ids that look like derived ones are reserved. */
export function isExplicitId(text: string): boolean {
  return isSignalId(text) && !text.startsWith(derivedPrefix);
}

/**
 * The id of a signal: the alert's own, or a derived one. It is the same on every resend.
 *
 * @param fingerprint of the whole body; for an alert without id and time, of its first arrival
 * @param index of the signal when the alert is an array, else null
 * @returns the explicit id, `h-<32 hex>` or `h-<32 hex>-<index>`
 */
export function signalIdOf(explicitId: string | null, fingerprint: string, index: number | null): string {
  if (explicitId !== null) return explicitId;
  const derived = `${derivedPrefix}${fingerprint.slice(0, derivedIdDigits)}`;
  return index === null ? derived : `${derived}-${index}`;
}

/**
 * The id under which a refused alert is recorded. No signal can have such an id, so that a refusal never
 * blocks the same alert when it arrives again and is accepted.
 *
 * @param fingerprint of the whole body; of the arrival when every arrival needs a record of its own
 * @param explicitId the alert's own id, by which the operator searches; null when none can be read
 * @returns `<id>@refused-<12 hex>`, or `refused-<32 hex>`
 */
export function refusalIdOf(fingerprint: string, explicitId: string | null): string {
  return explicitId === null
    ? `${refusalPrefix}${fingerprint.slice(0, derivedIdDigits)}`
    : `${refusalPrefixOf(explicitId)}${refusalPrefix}${fingerprint.slice(0, refusalDigits)}`;
}

/**
 * The client order id of a signal's order at the exchange. It is the same on every resend, redelivery and
 * re-run.
 *
 * @returns 32 characters of `[a-z0-9-]`
 * @see https://docs.whitebit.com the exchange takes letters, digits and dashes, 32 characters recommended
 */
export function clientOrderIdOf(account: string, signalId: string): string {
  // A signal id contains no line break, so different pairs never give the same text.
  const digest = hash('sha256', `${account}\n${signalId}`, 'hex');
  return `${clientOrderIdPrefix}${digest}`.slice(0, clientOrderIdLength);
}
