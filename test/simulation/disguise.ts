import type { Random } from '../../lib/base/random.ts';
import { type Alert, bodyMarker } from './alerts.ts';
import { pickOne, rollWhole } from './dice.ts';

/** The place of a secret in an alert. */
export type Place = 'comment' | 'ticker' | 'key';

/** Puts a secret into the alert, with one of its characters as a JSON escape. */
export function insertSecret(alert: Alert, secret: string, place: Place, random: Random): Alert {
  const disguised = escapeOne(secret, rollWhole(random, 0, secret.length - 1));
  const body = alert.body;
  switch (place) {
    case 'comment':
      return { ...alert, body: body.replace(`"${bodyMarker}"`, `"${bodyMarker} ${disguised}"`) };
    case 'ticker':
      return { ...alert, body: body.replace(/"ticker":"\w+"/, `"ticker":"${disguised}"`) };
    case 'key':
      return { ...alert, body: body.replace('"comment"', `"${disguised}":1,"comment"`) };
  }
}

/** @param isSureToBeHeld whether the relay still knows it as a secret when the alert arrives, however late */
export function pickPlace(random: Random, isSureToBeHeld: boolean): Place {
  return isSureToBeHeld ? pickOne(random, ['comment', 'ticker', 'key']) : 'comment';
}

function escapeOne(text: string, index: number): string {
  const digits = text.charCodeAt(index).toString(16).padStart(4, '0');
  return `${text.slice(0, index)}\\u${digits}${text.slice(index + 1)}`;
}
