import type { Random } from '../../lib/base/random.ts';
import { type Alert, bodyMarker } from './alerts.ts';
import { pickOne, rollWhole } from './dice.ts';

/** Where a secret comes to stand in an alert. */
export type Place = 'comment' | 'ticker' | 'key';

/** The alert with a secret in it, one of whose characters stands behind an escape of JSON. */
export function tellSecret(alert: Alert, secret: string, place: Place, random: Random): Alert {
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

/** @param isSureToBeHeld whether the relay knows it for a secret when the alert comes, however late */
export function pickPlace(random: Random, isSureToBeHeld: boolean): Place {
  return isSureToBeHeld ? pickOne(random, ['comment', 'ticker', 'key']) : 'comment';
}

function escapeOne(text: string, index: number): string {
  const digits = text.charCodeAt(index).toString(16).padStart(4, '0');
  return `${text.slice(0, index)}\\u${digits}${text.slice(index + 1)}`;
}
