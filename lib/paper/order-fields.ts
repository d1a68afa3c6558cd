import * as z from 'zod';
import type { Decimal } from '../base/decimal.ts';
import { DecimalValue, type OrderKindName, orderSchemas, type RequestOf } from '../model/order.ts';

/** One field of an order, as the schema of its kind has it. */
export interface OrderField {
  readonly name: string;
  readonly isOptional: boolean;
  /** For a decimal {@link DecimalValue}, optional or not. */
  readonly schema: z.ZodType;
}

type OrderOf<Name extends OrderKindName> = Omit<RequestOf<Name>, 'kind'>;

/** Fields that are decimals, of any kind of order. */
export type DecimalName = {
  [Name in OrderKindName]: {
    [Field in keyof OrderOf<Name>]-?: OrderOf<Name>[Field] extends Decimal | undefined ? Field : never;
  }[keyof OrderOf<Name>];
}[OrderKindName];

/** Fields that no order of some kind can do without. */
export type RequiredName = {
  [Name in OrderKindName]: {
    [Field in keyof OrderOf<Name>]-?: undefined extends OrderOf<Name>[Field] ? never : Field;
  }[keyof OrderOf<Name>];
}[OrderKindName];

/** The fields of a kind of order, in the order in which the service complains of them. */
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
