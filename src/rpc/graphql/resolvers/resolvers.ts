import { ACCOUNT_FIELDS } from "./accountFields.ts";
import { BLOCK_FIELDS } from "./blockFields.ts";
import { CALL_FIELDS } from "./calls.ts";
import { INTROSPECTION } from "./introspection.ts";
import { LOG_FIELDS } from "./logFields.ts";
import type { Resolve, ResolverTable } from "./resolverTable.ts";
import { ROOT_FIELDS } from "./rootFields.ts";
import { TRANSACTION_FIELDS } from "./transactionFields.ts";

const TABLES: readonly ResolverTable[] = [
  ROOT_FIELDS,
  BLOCK_FIELDS,
  TRANSACTION_FIELDS,
  ACCOUNT_FIELDS,
  LOG_FIELDS,
  CALL_FIELDS,
  INTROSPECTION,
];

/** All functions by type and field, such as "Block.number". */
export const RESOLVERS: ReadonlyMap<string, Resolve> = new Map(
  TABLES.flatMap((table) =>
    Object.entries(table).flatMap(([type, fields]) =>
      Object.entries(fields).map(([field, resolve]) => [`${type}.${field}`, resolve] as const),
    ),
  ),
);

/** Fields whose values, or the items of them, may be read from the disk. */
export const READING_FIELDS: ReadonlySet<string> = new Set([
  "Query.block",
  "Query.blocks",
  "Query.transaction",
  "Block.parent",
  "Block.transactions",
  "Block.transactionAt",
  "Account.balance",
  "Account.transactionCount",
  "Account.code",
  "Account.storage",
  "Log.transaction",
]);
