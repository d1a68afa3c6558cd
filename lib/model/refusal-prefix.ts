/** Stands in no id that an alert may choose. */
const refusalMark = '@';

/** What the ids of all refused alerts that carried this id begin with, and those of nothing else. */
export function refusalPrefixOf(alertId: string): string {
  return `${alertId}${refusalMark}`;
}
