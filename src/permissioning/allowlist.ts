import type { Logger } from "../observability/logger.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { type AllowlistKey, readListedTexts, writeListedTexts } from "./permissionsFile.ts";

/**
 * Permitted senders or nodes, as listed in a file. Read at each admission; changed by an operator over JSON-RPC or in
 * the file:
 *
 *     file ──open, reload──> list ──has──> pool, block building, peers
 *     perm_add…, perm_remove… ──> checks ──> file ──> list
 *
 * A change is written to the file before it takes effect. The list does not affect whether other validators' blocks are
 * valid: it is local and no rule of the chain, and Besu does not apply it to imported blocks either.
 */
export interface Allowlist {
  /** In the order of the file, then of their addition. */
  readonly items: readonly string[];
  /** Whether the list contains `item`, which is in normalized form. */
  has(item: string): boolean;
  /** Fails with the first error, and then nothing has changed, except after `outOfSync`. */
  add(texts: readonly string[]): Result<void, AllowlistErrorCode>;
  remove(texts: readonly string[]): Result<void, AllowlistErrorCode>;
  /** Reads the list from the file; fails when the file is unusable. */
  read(): Result<readonly string[], "unusablePermissions">;
  /** Replaces the list by one that was read. Nothing is logged when it is the same. */
  replace(items: readonly string[]): void;
}

/** Why a list was not changed (json-rpc-errors.md#permissioning), in the order of the checks. */
type AllowlistErrorCode =
  | "empty"
  | "invalid"
  | "duplicate"
  | "exists"
  /** The node is a maintained peer (bootnodes, static nodes). */
  | "fixed"
  | "absent"
  /** The file and the list in force differ. The change takes effect, but is not written. */
  | "outOfSync"
  | "notPersisted";

export interface AllowlistKind {
  readonly key: AllowlistKey;
  /** Name of an item in messages. */
  readonly noun: string;
  /** The normalized form of an item; undefined for invalid text. */
  normalize(text: string): string | undefined;
  /** Whether the item must stay on the list. */
  isFixed?(item: string): boolean;
}

/** Fails when the file is unusable, with the line and the value where there is one. */
export function openAllowlist(
  kind: AllowlistKind,
  path: string,
  logger: Logger,
): Result<Allowlist, "unusablePermissions"> {
  const read = (): Result<readonly string[], "unusablePermissions"> => readItems(kind, path);
  const first = read();
  return first.ok ? ok(createAllowlist({ kind, path, logger, read }, first.value)) : first;
}

interface AllowlistParts {
  readonly kind: AllowlistKind;
  readonly path: string;
  readonly logger: Logger;
  readonly read: Allowlist["read"];
}

function createAllowlist({ kind, path, logger, read }: AllowlistParts, first: readonly string[]): Allowlist {
  let items = first;
  let members: ReadonlySet<string> = new Set(first);

  function replace(changed: readonly string[]): void {
    if (changed.length === items.length && changed.every((item, index) => item === items[index])) return;
    items = changed;
    members = new Set(changed);
    logger.info({ file: path, entries: items.length }, `the ${kind.noun} allowlist has changed`);
  }

  function change(changed: readonly string[]): Result<void, AllowlistErrorCode> {
    const inFile = read();
    if (!inFile.ok) return notWritten("notPersisted", inFile.error.message);
    const itemsInFile = new Set(inFile.value);
    if (items.some((item) => !itemsInFile.has(item))) {
      replace(changed);
      return notWritten("outOfSync", `${path} does not contain the list in force`);
    }
    try {
      writeListedTexts(path, kind.key, changed);
    } catch (error) {
      return notWritten("notPersisted", messageOf(error));
    }
    replace(changed);
    return ok(undefined);
  }

  function notWritten(code: "notPersisted" | "outOfSync", reason: string): Result<never, AllowlistErrorCode> {
    logger.warn({ file: path, reason }, `the ${kind.noun} allowlist could not be written`);
    return fail("caller", code, reason);
  }

  return {
    get items() {
      return items;
    },
    has: (item) => members.has(item),
    add(texts) {
      const added = normalizeAll(kind, texts);
      if (!added.ok) return added;
      if (added.value.some((item) => members.has(item)))
        return fail("caller", "exists", "it is on the list already");
      return change([...items, ...added.value]);
    },
    remove(texts) {
      const removed = normalizeAll(kind, texts);
      if (!removed.ok) return removed;
      if (removed.value.some((item) => kind.isFixed?.(item)))
        return fail("caller", "fixed", "a maintained peer must stay on the list");
      if (!removed.value.every((item) => members.has(item)))
        return fail("caller", "absent", "it is not on the list");
      return change(items.filter((item) => !removed.value.includes(item)));
    },
    read,
    replace,
  };
}

/** The items in normalized form. */
function normalizeAll(
  kind: AllowlistKind,
  texts: readonly string[],
): Result<readonly string[], AllowlistErrorCode> {
  if (texts.length === 0) return fail("caller", "empty", "no entries given");
  const items = texts.map(kind.normalize);
  if (!items.every((item) => item !== undefined))
    return fail("caller", "invalid", `not all are ${kind.noun}s`);
  return new Set(items).size < items.length ? fail("caller", "duplicate", "duplicate entries") : ok(items);
}

function readItems(kind: AllowlistKind, path: string): Result<readonly string[], "unusablePermissions"> {
  const listed = readListedTexts(path, kind.key);
  if (!listed.ok) return listed;
  const items = new Set<string>();
  for (const { text, line } of listed.value) {
    const item = kind.normalize(text);
    if (item === undefined) {
      const message = `Invalid ${kind.noun} ${text} (${kind.key} in line ${line} of ${path})`;
      return fail("local", "unusablePermissions", message);
    }
    items.add(item);
  }
  return ok([...items]);
}
