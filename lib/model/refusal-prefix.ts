/** A character that no id of an alert may contain. */
const refusalMark = '@';

/** The prefix of the entry ids of all refused alerts that carried this id; no other entry id has it. */
export function refusalPrefixOf(alertId: string): string {
  return `${alertId}${refusalMark}`;
}
