/** A table that is printed, and written into the document under its name. */
export interface Table {
  /** The name of its block in the document. */
  readonly name: string;
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}
