import { collectFields, type Field } from './fields.ts';
import { isExplicitId } from './identity.ts';
import { createIssues, shortenText } from './issues.ts';
import { type JsonNode, parseSoundPart } from './parse-json.ts';
import { textOf } from './written-value.ts';

/** What its owner knows a refused signal by. */
export interface RefusedName {
  /** The id it gave itself; null when there is none that could be one. */
  readonly id: string | null;
  /** The beginning of its ticker, safe to print; null when it names none. */
  readonly ticker: string | null;
}

/**
 * What the signals of a body call themselves, as far as it can be read: other fields may be wrong, and what stands
 * before the first fault of broken JSON counts.
 *
 * @returns one for each signal of the body, none for a body that holds none
 */
export function readRefusedNames(body: Uint8Array): readonly RefusedName[] {
  const root = parseSoundPart(body);
  if (root === null) return [];
  return (root.kind === 'array' ? root.items : [root]).map(nameOf);
}

function nameOf(node: JsonNode): RefusedName {
  if (node.kind !== 'object') return { id: null, ticker: null };
  const { id, signalId, action, ticker } = collectFields(node, '', createIssues());
  // To an order `signalId` is another name of its id; to a cancel it is the name of another signal.
  const isOrder = /^(?:buy|sell)$/i.test(textIn(action).trim());
  const idText = textIn(id ?? (isOrder ? signalId : undefined));
  const tickerText = textIn(ticker);
  return {
    id: isExplicitId(idText) ? idText : null,
    ticker: tickerText === '' ? null : shortenText(tickerText),
  };
}

/** Empty for what is absent or no text. */
function textIn(field: Field | undefined): string {
  return (field && textOf(field.node)) ?? '';
}
