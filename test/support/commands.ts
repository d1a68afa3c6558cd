/** The alert that a command sends, without its id. */
export function alertIn(command: string): object {
  const { id: _, ...alert } = JSON.parse(/echo '(.*)' \|/.exec(command)?.[1] ?? '{}');
  return alert;
}
