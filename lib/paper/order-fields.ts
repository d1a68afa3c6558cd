import * as z from 'zod';
import type { Decimal } from '../base/decimal.ts';
import { DecimalValue, type OrderKindName, orderSchemas, type RequestOf } from '../model/order.ts';

/** One field of an order, as defined by the schema of its kind. */
export interface OrderField {
  readonly name: string;
  readonly isOptional: boolean;
  /** The schema without `optional()`; {@link DecimalValue} for a decimal. */
  readonly schema: z.ZodType;
}

type OrderOf<Name extends OrderKindName> = Omit<RequestOf<Name>, 'kind'>;

/** The decimal fields of all order kinds. */
export type DecimalName = {
  [Name in OrderKindName]: {
    [Field in keyof OrderOf<Name>]-?: OrderOf<Name>[Field] extends Decimal | undefined ? Field : never;
  }[keyof OrderOf<Name>];
}[OrderKindName];

/** The fields that at least one order kind requires. */
export type RequiredName = {
  [Name in OrderKindName]: {
    [Field in keyof OrderOf<Name>]-?: undefined extends OrderOf<Name>[Field] ? never : Field;
  }[keyof OrderOf<Name>];
}[OrderKindName];

/** The fields of an order kind, in the order in which the live service reports validation issues. */
export function orderFieldsOf(kind: OrderKindName): readonly OrderField[] {
  return Object.entries<z.ZodType>(orderSchemas[kind].shape).map(([name, field]) =>
    field instanceof z.ZodOptional
      ? { name, isOptional: true, schema: field.unwrap() as z.ZodType }
      : { name, isOptional: false, schema: field },
  );
}

export function isDecimalField({ schema }: OrderField): boolean {
  return schema === DecimalValue;
}
