/** One call that a process made on the files of a played disk. */
export type DiskCall = { readonly number: number } & (
  | { readonly does: 'start' | 'cut' }
  | { readonly does: 'create' | 'remove' | 'make_folder'; readonly path: string }
  | { readonly does: 'open'; readonly file: number; readonly path: string }
  | { readonly does: 'write'; readonly file: number; readonly offset: number; readonly data: Buffer }
  | { readonly does: 'truncate'; readonly file: number; readonly size: number }
  /** Whatever was written to the file up to the call `covered` is on the disk. */
  | { readonly does: 'flush'; readonly file: number; readonly covered: number }
  | { readonly does: 'rename'; readonly from: string; readonly to: string }
);

/** The numbers of `enum operation` in `played-disk.c`. */
const operations = {
  start: 1,
  create: 2,
  open: 3,
  write: 4,
  truncate: 5,
  flush: 6,
  rename: 7,
  remove: 8,
  make_folder: 9,
  amend: 10,
  cut: 11,
} as const;

interface DiskRecord {
  readonly operation: number;
  readonly file: number;
  /** Counted by its process, from 1 on. */
  readonly number: number;
  readonly offset: number;
  readonly data: Buffer;
}

const headLength = 32;

/**
 * Reads what the processes of a played disk recorded, in order. Calls are numbered on from `lastNumber`. The last
 * record may be incomplete, because its process was killed while it wrote it.
 */
export function readDiskJournal(journal: Buffer, lastNumber: number): readonly DiskCall[] {
  const records = readRecords(journal);
  const done = readAmendments(records);
  let base = lastNumber;
  return records.flatMap((record, index) => {
    const number = lastNumber + index + 1;
    if (record.operation === operations.start) base = number - record.number;
    return readCall(record, number, base, done.get(index) ?? null);
  });
}

function readRecords(journal: Buffer): readonly DiskRecord[] {
  const records: DiskRecord[] = [];
  for (let at = 0; at + headLength <= journal.length; ) {
    const end = at + headLength + Number(journal.readBigUInt64LE(at + 24));
    if (end > journal.length) break;
    records.push({
      operation: journal.readUInt32LE(at),
      file: journal.readInt32LE(at + 4),
      number: Number(journal.readBigUInt64LE(at + 8)),
      offset: Number(journal.readBigUInt64LE(at + 16)),
      data: journal.subarray(at + headLength, end),
    });
    at = end;
  }
  return records;
}

/** Calls that did less than their record says: the index of the record → how much was done. */
function readAmendments(records: readonly DiskRecord[]): ReadonlyMap<number, number> {
  const done = new Map<number, number>();
  let first = 0;
  records.forEach(({ operation, offset, data }, index) => {
    if (operation === operations.start) first = index;
    if (operation === operations.amend) done.set(first + offset - 1, Number(data.readBigUInt64LE()));
  });
  return done;
}

/** @param done how much of it was done; null: all */
function readCall(
  record: DiskRecord,
  number: number,
  base: number,
  done: number | null,
): readonly DiskCall[] {
  const { operation, file, offset, data } = record;
  const path = () => data.toString();
  if (operation === operations.write)
    return done === 0
      ? []
      : [{ number, does: 'write', file, offset, data: data.subarray(0, done ?? data.length) }];
  if (done !== null) return [];
  switch (operation) {
    case operations.start:
      return [{ number, does: 'start' }];
    case operations.cut:
      return [{ number, does: 'cut' }];
    case operations.create:
      return [{ number, does: 'create', path: path() }];
    case operations.remove:
      return [{ number, does: 'remove', path: path() }];
    case operations.make_folder:
      return [{ number, does: 'make_folder', path: path() }];
    case operations.open:
      return [{ number, does: 'open', file, path: path() }];
    case operations.truncate:
      return [{ number, does: 'truncate', file, size: offset }];
    case operations.flush:
      return [{ number, does: 'flush', file, covered: base + offset }];
    case operations.rename: {
      const [from = '', to = ''] = path().split('\n');
      return [{ number, does: 'rename', from, to }];
    }
    case operations.amend:
      return [];
    default:
      throw new RangeError(`the journal has a record of the unknown operation ${operation}`);
  }
}
