import * as z from 'zod/mini';
import type { Decimal } from '../../base/decimal.ts';
import type { OrderType } from '../../model/order.ts';
import { DecimalValue, orderSchemas } from '../../model/order-schemas.ts';

/** One field of an order, as defined by the schema of its type. */
export interface SchemaField {
  readonly name: string;
  readonly isOptional: boolean;
  /** The schema without `optional()`; {@link DecimalValue} for a decimal. */
  readonly schema: z.ZodMiniType;
}

type OrderOf<Type extends OrderType> = z.output<(typeof orderSchemas)[Type]>;

/** The decimal fields of all order types. */
export type DecimalName = {
  [Type in OrderType]: {
    [Field in keyof OrderOf<Type>]-?: OrderOf<Type>[Field] extends Decimal | undefined ? Field : never;
  }[keyof OrderOf<Type>];
}[OrderType];

/** The fields that at least one order type requires. */
export type RequiredName = {
  [Type in OrderType]: {
    [Field in keyof OrderOf<Type>]-?: undefined extends OrderOf<Type>[Field] ? never : Field;
  }[keyof OrderOf<Type>];
}[OrderType];

/** The fields of an order type, in the order in which the live service reports validation issues. */
export function orderFieldsOf(type: OrderType): readonly SchemaField[] {
  return Object.entries<z.ZodMiniType>(orderSchemas[type].shape).map(([name, field]) =>
    field instanceof z.ZodMiniOptional
      ? { name, isOptional: true, schema: field.def.innerType as z.ZodMiniType }
      : { name, isOptional: false, schema: field },
  );
}

export function isDecimalField({ schema }: SchemaField): boolean {
  return schema === DecimalValue;
}
