/**
 * A response that breaks the rules of HTTP/1.1 or exceeds a limit. The message contains nothing of the response,
 * which may hold any text.
 */
export class MalformedResponse extends Error {}

/** Status line and header fields of one response. */
export interface ResponseHead {
  readonly status: number;
  /** The lines as they arrived, each ended by CR LF. */
  readonly lines: string;
  readonly framing: Framing;
  /** No response follows this one. */
  readonly isLast: boolean;
  /** How long the server keeps the connection open for another request, at least. 0: it may close it at once. */
  readonly reusableForMs: number;
}

/** How the end of the body is found. */
type Framing =
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  /** The body ends with the connection, so nothing proves that it is whole. */
  | { readonly kind: 'until_close' };

export const maximumHeaderLines = 256;

/** Names of fields and of chunk extensions consist of these. */
export const token = /[!#$%&'*+.^_`|~\dA-Za-z-]+/;
const statusLine = /^HTTP\/1\.[01] [1-5]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/;
/**
 * A header or trailer field. White space before the colon and folded lines are refused, because programs on the way
 * disagree about what they mean.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-5
 */
export const fieldLine = new RegExp(`^${token.source}:[\\t\\x20-\\x7e\\x80-\\xff]*\r\n$`);
const fieldLines = new RegExp(`^(?:${fieldLine.source.slice(1, -1)}){0,${maximumHeaderLines}}$`);
/** The fields that say where the body ends and whether the connection stays open. */
const framingFields = /\r\n(content-length|transfer-encoding|connection|keep-alive):([^\r]*)/gi;
const length = /^[\t ]*(\d{1,15})[\t ]*$/;
const chunked = /^[\t ]*chunked[\t ]*$/i;
const keepAlive = /^[\t ]*keep-alive[\t ]*$/i;
const announcedTimeout = /(?:^|,)[\t ]*timeout=(\d{1,6})(?!\d)/i;

/** A connection may be closed a little earlier than the server announced, as seen from here. */
const announcedMarginMs = 1000;

/**
 * Reads the head of a response.
 *
 * @param lines latin1 text; each line ends with CR LF, and the empty line at the end is missing
 * @throws MalformedResponse when a line is not HTTP/1.1 or the framing is contradictory. Where programs disagree
 *   about the end of a response, bytes of one response can be taken for another.
 */
export function parseResponseHead(lines: string): ResponseHead {
  const status = Number(lines.slice(9, 12));
  const fieldsStart = lines.indexOf('\r\n') + 2;
  if (!statusLine.test(lines)) throw new MalformedResponse('the response does not begin with a status line');
  if (!fieldLines.test(lines.slice(fieldsStart)))
    throw new MalformedResponse(
      `a header line is not HTTP/1.1, or there are more than ${maximumHeaderLines} of them`,
    );
  const isOld = lines.startsWith('HTTP/1.0');
  const fields = readFramingFields(lines);
  const framing = framingOf(fields, isOld);
  const isLast = isOld || fields.isCloseAnnounced;
  const mayReuse = !isLast && framing.kind !== 'until_close';
  return { status, lines, framing, isLast, reusableForMs: mayReuse ? fields.keepAliveMs : 0 };
}

interface FramingFields {
  contentLengths: string[];
  codings: string[];
  isCloseAnnounced: boolean;
  keepAliveMs: number;
}

function readFramingFields(lines: string): FramingFields {
  const fields: FramingFields = {
    contentLengths: [],
    codings: [],
    isCloseAnnounced: false,
    keepAliveMs: Number.POSITIVE_INFINITY,
  };
  for (const [, name = '', value = ''] of lines.matchAll(framingFields)) {
    const field = name.toLowerCase();
    if (field === 'content-length') fields.contentLengths.push(value);
    else if (field === 'transfer-encoding') fields.codings.push(value);
    else if (field === 'keep-alive') fields.keepAliveMs = announcedKeepAliveMs(value);
    else if (!keepAlive.test(value)) fields.isCloseAnnounced = true;
  }
  return fields;
}

function announcedKeepAliveMs(value: string): number {
  const seconds = announcedTimeout.exec(value)?.[1];
  if (seconds === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(0, Number(seconds) * 1000 - announcedMarginMs);
}

/** @see https://www.rfc-editor.org/rfc/rfc9112#section-6.3 */
function framingOf({ contentLengths, codings }: FramingFields, isOld: boolean): Framing {
  const [coding] = codings;
  const [contentLength] = contentLengths;
  if (codings.length + contentLengths.length > 1)
    throw new MalformedResponse('the response says more than once how long it is');
  if (coding !== undefined) {
    if (isOld || !chunked.test(coding))
      throw new MalformedResponse('the response has a transfer coding other than chunked');
    return { kind: 'chunked' };
  }
  if (contentLength === undefined) return { kind: 'until_close' };
  const digits = length.exec(contentLength)?.[1];
  if (digits === undefined) throw new MalformedResponse('the content length of the response is not a number');
  return { kind: 'length', bytes: Number(digits) };
}

/**
 * The chosen header fields of a response: name → value. A field that occurs several times has its values joined by
 * commas.
 *
 * @param names in lower case
 */
export function pickHeaders({ lines }: ResponseHead, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const line of lines.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    if (colon < 0 || !names.includes(name)) continue;
    const value = line.slice(colon + 1).trim();
    const earlier = picked[name];
    picked[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }
  return picked;
}
