import { expect, test } from '@jest/globals';
import { type Waiting, WaitingLine } from '../../lib/queue/waiting-line.ts';

/** How often a position was read since the last call. */
let reads = 0;

function item(position: number, group: string): Waiting {
  return {
    id: `i-${position}`,
    group,
    isAside: false,
    get position() {
      reads += 1;
      return position;
    },
  };
}

test.each([
  ['one group', () => 'one'],
  ['five thousand groups', (index: number) => `g-${index % 5000}`],
])('ten thousand items of %s are added with at most one comparison each', (_, groupOf) => {
  const line = new WaitingLine<Waiting>();
  reads = 0;

  for (let index = 0; index < 10_000; index += 1) line.add(item(index, groupOf(index)));

  expect(reads).toBeLessThanOrEqual(20_000);
  reads = 0;
  const order: string[] = [];
  for (let next = line.take(); next !== null; next = line.take()) {
    order.push(next.id);
    line.remove(next);
  }
  expect(order).toHaveLength(10_000);
  expect(reads).toBe(0);
  expect(line.items.size).toBe(0);
});

test('an item is delivered in the place of its position, whenever it was added', () => {
  const line = new WaitingLine<Waiting>();
  for (const position of [5, 1, 3]) line.add(item(position, 'g'));
  const ids: string[] = [];
  for (let next = line.take(); next !== null; next = line.take()) {
    ids.push(next.id);
    line.remove(next);
  }
  expect(ids).toEqual(['i-1', 'i-3', 'i-5']);
});

test('the group that became free first is delivered first', () => {
  const line = new WaitingLine<Waiting>();
  for (const [position, group] of [
    [1, 'a'],
    [2, 'a'],
    [3, 'b'],
    [4, 'c'],
  ] as const)
    line.add(item(position, group));
  const first = line.take();
  if (first !== null) line.remove(first);
  expect([line.take()?.id, line.take()?.id, line.take()?.id, line.take()]).toEqual([
    'i-3',
    'i-4',
    'i-2',
    null,
  ]);
});

test('a group of which every item is set aside delivers nothing, until one is brought back', () => {
  const line = new WaitingLine<Waiting>();
  const [first, second] = [item(1, 'g'), item(2, 'g')];
  for (const each of [first, second]) line.add(each);
  first.isAside = true;
  second.isAside = true;
  expect(line.take()).toBeNull();
  second.isAside = false;
  line.reconsider(second);
  expect(line.take()).toBe(second);
  expect(line.hasOlder(second)).toBe(true);
});

test('an item that was added anew in another group leaves its old one, and nothing else does', () => {
  const line = new WaitingLine<Waiting>();
  for (const each of [item(1, 'old'), item(2, 'new')]) line.add(each);
  const moved = { ...item(3, 'new'), id: 'i-1' };
  line.add(moved);
  expect([line.list('old'), line.list('new').map(({ id }) => id)]).toEqual([[], ['i-2', 'i-1']]);
  expect(line.items.get('i-1')).toBe(moved);
});

test('an item with the id of one in another group takes no place but its own', () => {
  const line = new WaitingLine<Waiting>();
  for (const position of [1, 2]) line.add(item(position, 'a'));
  for (const position of [3, 4]) line.add(item(position, 'b'));
  expect(line.take()?.id).toBe('i-1');

  line.add({ ...item(5, 'b'), id: 'i-1' });

  const positions: number[] = [];
  for (let next = line.take(); next !== null; next = line.take()) {
    positions.push(next.position);
    line.remove(next);
  }
  expect(positions).toEqual([3, 2, 4, 5]);
  expect(line.items.size).toBe(0);
});
