import * as z from 'zod';

/** When an order gets its stop-loss and take-profit: once it has ended or filled, with each of its fills, or never. */
export const exitMoments = ['end', 'first_fill', 'never'] as const;

/** What decides whether a stop waits for a rise or for a fall: the last price when it is placed, or its side. */
export const stopDirections = ['price', 'side'] as const;

/** What a stop-loss becomes when it triggers: a limit order, or a market order. */
export const exitStopKinds = ['limit', 'market'] as const;

/**
 * How the exchange makes and shows the stop-loss and take-profit that an order carries, and what else of its orders no
 * document tells for certain. The service documents only that exits are set once the order is fulfilled, so each of these
 * can be what it does.
 */
export interface ExitSettings {
  /** `first_fill`: each fill gets a stop-loss and a take-profit of its own amount. */
  readonly madeAt: (typeof exitMoments)[number];
  /** With `end`: whether an order that was filled in part and then ended gets exits for that part. */
  readonly afterPartial: boolean;
  /** Whether they can only reduce the position. */
  readonly reduceOnly: boolean;
  readonly stopKind: (typeof exitStopKinds)[number];
  /** Whether the list of positions tells the ids and prices of the exits that stand. */
  readonly showsAttached: boolean;
  /** Whether the list of open orders has them; else the list of positions alone, if that shows them, and that of pairs. */
  readonly listsExits: boolean;
  /**
   * Whether reduce-only orders that would wait or rest on the collateral account are refused: stops, limits without
   * `ioc` and pairs. So a client must find another way to protect a position.
   */
  readonly refusesReduceOnlyStops: boolean;
  readonly stopsWaitBy: (typeof stopDirections)[number];
  /** Whether a second order may have the client order id of one that is open. */
  readonly takesUsedIds: boolean;
}

/** How it makes them unless a command says otherwise. */
export const usualExitSettings: ExitSettings = {
  madeAt: 'end',
  afterPartial: true,
  reduceOnly: false,
  stopKind: 'limit',
  showsAttached: false,
  listsExits: true,
  refusesReduceOnlyStops: false,
  stopsWaitBy: 'price',
  takesUsedIds: false,
};

/** The settings that change; the others stay. */
export type ExitSettingsChange = Partial<ExitSettings>;

/** A change as the journal and the control requests have it. */
export const ExitSettingsChangeSchema: z.ZodType<ExitSettingsChange> = z.strictObject({
  madeAt: z.enum(exitMoments).exactOptional(),
  afterPartial: z.boolean().exactOptional(),
  reduceOnly: z.boolean().exactOptional(),
  stopKind: z.enum(exitStopKinds).exactOptional(),
  showsAttached: z.boolean().exactOptional(),
  listsExits: z.boolean().exactOptional(),
  refusesReduceOnlyStops: z.boolean().exactOptional(),
  stopsWaitBy: z.enum(stopDirections).exactOptional(),
  takesUsedIds: z.boolean().exactOptional(),
});

/** Changes how the exchange makes exits from now on. Those that stand are not changed. */
export interface SetExitsCommand {
  readonly kind: 'set_exits';
  readonly atMs: number;
  readonly change: ExitSettingsChange;
}
