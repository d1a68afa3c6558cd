import { isPlacingAction } from './actions.ts';
import { collectFields, type Field } from './fields.ts';
import { type HeldSecret, holdsSecret } from './find-secret.ts';
import { isExplicitId } from './identity.ts';
import { createIssues, shortenText } from './issues.ts';
import { type JsonNode, parseSoundPart } from './parse-json.ts';
import { impliesTarget } from './read-target.ts';
import { textOf } from './written-value.ts';

/** What identifies a refused signal to the trader. */
export interface RefusedName {
  /** The explicit id; null when there is no valid one, or it holds a secret. */
  readonly id: string | null;
  /** The beginning of the ticker, safe to print; null when there is none, or it holds a secret. */
  readonly ticker: string | null;
}

/**
 * Reads the ids and tickers of the signals in a refused body. Other fields may be invalid. If the JSON is
 * broken, only the part before the first mistake is read.
 *
 * @param secrets texts that must not be stored: a ticker is searched for them before it is shortened
 * @returns one for each signal of the body; empty when the body contains none
 */
export function readRefusedNames(body: Uint8Array, secrets: readonly HeldSecret[]): readonly RefusedName[] {
  const root = parseSoundPart(body);
  if (root === null) return [];
  return (root.kind === 'array' ? root.items : [root]).map((node) => nameOf(node, secrets));
}

function nameOf(node: JsonNode, secrets: readonly HeldSecret[]): RefusedName {
  if (node.kind !== 'object') return { id: null, ticker: null };
  const fields = collectFields(node, '', createIssues());
  const { id, signalId, action, ticker } = fields;
  const isTarget = impliesTarget(fields);
  // In a cancel, `signalId` names another signal. In an order and in a target without an action it is another name of `id`.
  const isPlacing = action === undefined ? isTarget : isPlacingAction(textIn(action));
  const idText = textIn(id ?? (isPlacing ? signalId : undefined));
  const tickerText = textIn(ticker);
  return {
    id: isExplicitId(idText) && !holdsSecret(idText, secrets) ? idText : null,
    ticker: tickerText === '' || holdsSecret(tickerText, secrets) ? null : shortenText(tickerText),
  };
}

/** Empty for a field that is absent or not text. */
function textIn(field: Field | undefined): string {
  return (field && textOf(field.node)) ?? '';
}
