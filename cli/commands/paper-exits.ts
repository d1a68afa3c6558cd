import { type Command, Option } from 'commander';
import * as z from 'zod';
import {
  type ExitSettings,
  type ExitSettingsChange,
  exitMoments,
  exitStopKinds,
  stopDirections,
} from '../../lib/paper/engine/exit-settings.ts';
import { type Context, runCommand } from '../command.ts';
import { askControl } from '../session/paper-control.ts';
import { renderTable } from '../show/table.ts';

const onOff = ['on', 'off'] as const;

/** The option of each setting: its name, its values, and what it says. */
const options: Readonly<Record<keyof ExitSettings, readonly [string, readonly string[], string]>> = {
  madeAt: ['made-at', exitMoments, 'when an order gets its exits: at its end, some with each fill, or never'],
  afterPartial: ['after-partial', onOff, 'whether an order that ended early gets exits for its filled part'],
  reduceOnly: ['reduce-only', onOff, 'whether the exits can only reduce the position'],
  stopKind: ['stop-kind', exitStopKinds, 'what a stop-loss becomes when it triggers'],
  showsAttached: ['shows-attached', onOff, 'whether the list of positions tells the exits by id and price'],
  listsExits: ['lists-exits', onOff, 'whether the list of open orders has the exits'],
  refusesReduceOnlyStops: [
    'refuses-reduce-only-stops',
    onOff,
    'whether reduce-only stops, resting limit orders and pairs of a client are refused',
  ],
  stopsWaitBy: [
    'stops-wait-by',
    stopDirections,
    'what decides whether a stop waits for a rise or a fall: the last price, or its side',
  ],
  takesUsedIds: ['takes-used-ids', onOff, 'whether two open orders may have one client order id'],
};

/** The command that changes how the paper exchange makes the stop-loss and take-profit of an order. */
export function addExitsCommand(paper: Command): void {
  const command = paper
    .command('exits')
    .description('say how the exchange makes the stop-loss and take-profit of an order; show the settings');
  for (const [name, values, description] of Object.values(options))
    command.addOption(new Option(`--${name} <value>`, description).choices(values));
  command.action((given: Readonly<Record<string, string>>) =>
    runCommand(command, (context) => setExits(context, given)),
  );
}

async function setExits(context: Context, given: Readonly<Record<string, string>>): Promise<void> {
  const change: ExitSettingsChange = Object.fromEntries(
    Object.entries(given).map(([field, value]) => [field, readValue(value)]),
  );
  const exits = ExitsField.parse(await askControl(context, 'POST', '/control/exits', change));
  context.printChange({ exits }, () =>
    renderTable(
      [{ title: 'setting' }, { title: 'value' }],
      Object.entries(options).map(([field, [name]]) => [name, describeValue(exits[field])]),
      context.terminal,
    ),
  );
}

function readValue(text: string): string | boolean {
  return text === 'on' || text === 'off' ? text === 'on' : text;
}

const ExitsField = z.record(z.string(), z.union([z.string(), z.boolean()]));

function describeValue(value: string | boolean | undefined): string {
  if (typeof value === 'string') return value;
  return value === true ? 'on' : 'off';
}
