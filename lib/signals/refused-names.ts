import { isPlacingAction } from './actions.ts';
import { collectFields, type Field } from './fields.ts';
import { isExplicitId } from './identity.ts';
import { createIssues, shortenText } from './issues.ts';
import { type JsonNode, parseSoundPart } from './parse-json.ts';
import { impliesTarget } from './read-target.ts';
import { textOf } from './written-value.ts';

/** What identifies a refused signal to the trader. */
export interface RefusedName {
  /** The explicit id; null when there is no valid one. */
  readonly id: string | null;
  /** The beginning of the ticker, safe to print; null when there is none. */
  readonly ticker: string | null;
}

/**
 * Reads the ids and tickers of the signals in a refused body. Other fields may be invalid. If the JSON is
 * broken, only the part before the first mistake is read.
 *
 * @returns one for each signal of the body; empty when the body contains none
 */
export function readRefusedNames(body: Uint8Array): readonly RefusedName[] {
  const root = parseSoundPart(body);
  if (root === null) return [];
  return (root.kind === 'array' ? root.items : [root]).map(nameOf);
}

function nameOf(node: JsonNode): RefusedName {
  if (node.kind !== 'object') return { id: null, ticker: null };
  const fields = collectFields(node, '', createIssues());
  const { id, signalId, action, ticker } = fields;
  const isTarget = impliesTarget(fields);
  // In a cancel, `signalId` names another signal. In an order and in a target without an action it is another name of `id`.
  const isPlacing = action === undefined ? isTarget : isPlacingAction(textIn(action));
  const idText = textIn(id ?? (isPlacing ? signalId : undefined));
  const tickerText = textIn(ticker);
  return {
    id: isExplicitId(idText) ? idText : null,
    ticker: tickerText === '' ? null : shortenText(tickerText),
  };
}

/** Empty for a field that is absent or not text. */
function textIn(field: Field | undefined): string {
  return (field && textOf(field.node)) ?? '';
}
