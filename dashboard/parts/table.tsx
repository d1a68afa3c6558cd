import type { ComponentChildren } from 'preact';

export interface TableColumn<Row> {
  readonly title: string;
  readonly align?: 'right';
  cell(row: Row): ComponentChildren;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  keyOf(row: Row): string;
}

/** A table that becomes a list of cards on a narrow screen: each cell then carries the title of its column. */
export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
  return (
    <table class="table">
      <caption>{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, align }) => (
            <th key={title} scope="col" class={align}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ title, align, cell }) => (
              <td key={title} class={align} data-title={title}>
                {/* One box, so that a card keeps what is in it together. */}
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
