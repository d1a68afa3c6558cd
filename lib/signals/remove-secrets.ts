import { layersOf } from './find-secret.ts';
import { plainWord } from './foreign-words.ts';

/** What is recorded of a value that could be a secret of the sender. */
export const removedSecret = '(removed)';

/** Names of secrets of the sender, plain. */
export const secretNames = new Set(
  'secret secretkey sharedsecret passphrase password passwd pwd pass mnemonic token authtoken accesstoken emailtoken signaltoken webhooktoken webhooksecret webhookkey webhookpassphrase apikey apisecret apitoken apipassphrase auth authorization authkey key licensekey pointer pairkey privatekey signature'.split(
    ' ',
  ),
);

/** No name is longer, however it is spelled. */
export const longestName = 48;

/** Nearly every text has none of these, and so no secret. */
const mayHold = /[:=%\\]|eyJ|bearer|\b(?:gh[a-z]|github_pat|tk|xox[a-z])[_-]/i;
/** What stands between a name and its value, with the closing quote of the name. */
const separator = /["'`“”‘’]?\s{0,9}[:=]{1,2}>?\s{0,9}/g;
const lastWords = /(?:([\w.-]+) )?([\w.-]+)$/;
const secretEndings = /(?:secret|pass(?:phrase|word|wd|code)|token|key|licen[cs]e(?:id)?)$/;
/** A list or an object, to the end of the text; a text in quotes, or without a closing one to the end; or a word. */
const value =
  /[[{][\s\S]*|(["'`])(?:\\[\s\S]|(?!\1)[^\\])*(?:\1|$)|“[^”]*”?|‘[^’]*’?|(?:(?:bearer|basic|token)\s{1,9})?(?:(?![,;|&]\s{0,9}["'`“‘]?[\w.-]{1,48}["'`”’]?\s{0,9}[:=])\S)+/iy;
/** Secrets that need no name: tokens of JSON, of the header that sends one, of a Telegram bot, GitHub, ntfy and Slack. */
const shapes =
  /\beyJ[\w+/-]{9,}[\w.+/=-]*|\bbearer\s{1,9}[^\s"',;]{8,}|\b\d{6,12}:[\w-]{30,}|\b(?:gh[a-z]|github_pat|tk|xox[a-z])[_-][\w-]{20,}/gi;
const address = /(https?:\/\/)([^\s/@]*@)?([^\s/]*)([^\s"']*)/gi;
/** In the path of an address: addresses of webhooks hold their secret there. */
const longSegment = /[\w~-]{20,}/g;

/**
 * Replaces what may be the secret of another relay: the value behind a name such as `token` or `apiKey`, in JSON or in
 * plain text, a token by its shape, and what an address holds. It removes too much rather than too little, and suits texts
 * that decide nothing. A text that holds a secret in escapes of JSON or of URLs is replaced as a whole.
 */
export function removeSecrets(text: string): string {
  if (!mayHold.test(text)) return text;
  for (const layer of layersOf(text))
    if (layer !== text && removePlain(layer) !== layer) return removedSecret;
  return removePlain(text);
}

function removePlain(text: string): string {
  return removeNamed(text)
    .replace(shapes, removedSecret)
    .replace(address, (_, scheme: string, user: string | undefined, host: string, path: string) =>
      [
        scheme,
        user === undefined ? '' : `${removedSecret}@`,
        host,
        path.replace(longSegment, removedSecret),
      ].join(''),
    );
}

function removeNamed(text: string): string {
  let kept = '';
  let from = 0;
  for (const { 0: between, index } of text.matchAll(separator)) {
    if (index < from || !isNameOfSecret(text.slice(Math.max(from, index - longestName), index))) continue;
    value.lastIndex = index + between.length;
    const [found = ''] = value.exec(text) ?? [];
    if (found === '' || found === removedSecret) continue;
    kept += `${text.slice(from, index + between.length)}${removedSecret}`;
    from = index + between.length + found.length;
  }
  return `${kept}${text.slice(from)}`;
}

/** @param before what stands before the separator: its last word, or its last two such as `api key`, is the name */
function isNameOfSecret(before: string): boolean {
  const [, second = '', last = ''] = lastWords.exec(before) ?? [];
  const name = plainWord(last);
  const ending = last.split(/[._-]/).at(-1)?.toLowerCase() ?? '';
  return (
    [name, ending, plainWord(second + last)].some((one) => secretNames.has(one)) || secretEndings.test(name)
  );
}
