import type { Channel } from './channel.ts';
import { discord } from './discord.ts';
import type { ChannelName } from './notice-settings.ts';
import { ntfy } from './ntfy.ts';
import { signedWebhook } from './signed-webhook.ts';
import { slack } from './slack.ts';
import { telegram } from './telegram.ts';

/** The channels that are reached by a request of the relay's own; e-mail goes through a topic of SNS. */
export type RequestChannelName = Exclude<ChannelName, 'email'>;

export const channels: Readonly<Record<RequestChannelName, Channel>> = {
  telegram,
  slack,
  discord,
  ntfy,
  webhook: signedWebhook,
};

/** How each channel is reached; a channel that nobody has set is missing. */
export type Ways = Readonly<Partial<Record<RequestChannelName, Readonly<Record<string, string>>>>>;

/** What is wrong with a way, one sentence for each field; none of them quotes it. */
export function complainWay(name: RequestChannelName, way: unknown): readonly string[] {
  const { fields } = channels[name];
  if (typeof way !== 'object' || way === null || Array.isArray(way)) return [`${name} is not an object`];
  const given = new Map(Object.entries(way));
  const faults = fields.flatMap((field) => {
    const value: unknown = given.get(field.name);
    given.delete(field.name);
    if (value === undefined) return field.isRequired ? [`${name} has no ${field.name}`] : [];
    return typeof value === 'string' && field.isFit(value) ? [] : [`${field.name} of ${name} cannot be used`];
  });
  return [...faults, ...(given.size === 0 ? [] : [`${name} has fields that it does not know`])];
}

/** What is wrong with what a secret store holds of all channels; empty when nothing is. */
export function complainWays(ways: unknown): readonly string[] {
  if (typeof ways !== 'object' || ways === null || Array.isArray(ways)) return ['it is not an object'];
  return Object.entries(ways).flatMap(([name, way]) =>
    isRequestChannel(name) ? complainWay(name, way) : ['it names a channel that this release does not know'],
  );
}

export function isRequestChannel(name: string): name is RequestChannelName {
  return Object.hasOwn(channels, name);
}

/** The texts of a way that must not be shown, stored or logged. */
export function secretsIn(ways: Ways): readonly string[] {
  return Object.entries(ways).flatMap(([name, way]) =>
    Object.entries(way ?? {})
      .filter(([field]) => !openFields.has(`${name} ${field}`))
      .map(([, value]) => value),
  );
}

/** They say where, and open nothing. */
const openFields: ReadonlySet<string> = new Set([
  'telegram chatId',
  'telegram server',
  'ntfy server',
  'webhook url',
]);
