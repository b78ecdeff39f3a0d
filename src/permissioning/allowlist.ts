import type { Logger } from "../observability/logger.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { type AllowlistKey, isListWritten, readListedTexts, writeListedTexts } from "./permissionsFile.ts";

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

/** What a list that was read again has more and less. */
export interface ListChange {
  readonly key: AllowlistKey;
  readonly added: number;
  readonly removed: number;
}

/** Fails when the file is unusable, with the line and the value where there is one. */
export function openAllowlist(
  kind: AllowlistKind,
  path: string,
  logger: Logger,
): Result<Allowlist, "unusablePermissions"> {
  const read = (): Result<readonly string[], "unusablePermissions"> => readItems(kind, path);
  const first = read();
  return first.ok ? ok(new Allowlist({ kind, path, logger, read }, first.value)) : first;
}

interface AllowlistParts {
  readonly kind: AllowlistKind;
  readonly path: string;
  readonly logger: Logger;
  readonly read: Allowlist["read"];
}

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
export class Allowlist {
  private readonly parts: AllowlistParts;
  private current: readonly string[];
  private members: ReadonlySet<string>;
  private changed: () => void = () => undefined;

  constructor(parts: AllowlistParts, first: readonly string[]) {
    this.parts = parts;
    this.current = first;
    this.members = new Set(first);
  }

  /** Calls `listener` after each change of the list, in place of an earlier listener. */
  whenChanged(listener: () => void): void {
    this.changed = listener;
  }

  /** The items in the order of the file, then of their addition. */
  get items(): readonly string[] {
    return this.current;
  }

  /** Whether the list contains `item`, which is in normalized form. */
  has(item: string): boolean {
    return this.members.has(item);
  }

  /** Adds items. Fails with the first error, without any change, except after `outOfSync`. */
  add(texts: readonly string[]): Result<void, AllowlistErrorCode> {
    const added = normalizeAll(this.parts.kind, texts);
    if (!added.ok) return added;
    if (added.value.some((item) => this.members.has(item)))
      return fail("caller", "exists", "it is on the list already");
    return this.change([...this.current, ...added.value]);
  }

  remove(texts: readonly string[]): Result<void, AllowlistErrorCode> {
    const { kind } = this.parts;
    const removed = normalizeAll(kind, texts);
    if (!removed.ok) return removed;
    if (removed.value.some((item) => kind.isFixed?.(item)))
      return fail("caller", "fixed", "a maintained peer must stay on the list");
    if (!removed.value.every((item) => this.members.has(item)))
      return fail("caller", "absent", "it is not on the list");
    const leaving = new Set(removed.value);
    return this.change(this.current.filter((item) => !leaving.has(item)));
  }

  /** Reads the list from the file; fails when the file is unusable. */
  read(): Result<readonly string[], "unusablePermissions"> {
    return this.parts.read();
  }

  /** Replaces the list by one that was read, and returns what changed. Undefined, and logs nothing, when it is the same. */
  replace(changed: readonly string[]): ListChange | undefined {
    const { logger, path, kind } = this.parts;
    const { current: old, members: known } = this;
    if (changed.length === old.length && changed.every((item, index) => item === old[index]))
      return undefined;
    this.current = changed;
    this.members = new Set(changed);
    logger.info({ file: path, entries: this.current.length }, `the ${kind.noun} allowlist has changed`);
    this.changed();
    const added = changed.filter((item) => !known.has(item)).length;
    return { key: kind.key, added, removed: old.length + added - changed.length };
  }

  private change(changed: readonly string[]): Result<void, AllowlistErrorCode> {
    const { read, path, kind } = this.parts;
    const isWritten = isListWritten(path, kind.key, this.current);
    if (!isWritten) {
      const inFile = read();
      if (!inFile.ok) return this.notWritten("notPersisted", inFile.error.message);
      const itemsInFile = new Set(inFile.value);
      if (this.current.some((item) => !itemsInFile.has(item))) {
        this.replace(changed);
        return this.notWritten("outOfSync", `${path} does not contain the list in force`);
      }
    }
    try {
      writeListedTexts(path, kind.key, changed, isWritten ? this.current : undefined);
    } catch (error) {
      return this.notWritten("notPersisted", messageOf(error));
    }
    this.replace(changed);
    return ok(undefined);
  }

  private notWritten(code: "notPersisted" | "outOfSync", reason: string): Result<never, AllowlistErrorCode> {
    const { logger, path, kind } = this.parts;
    logger.warn({ file: path, reason }, `the ${kind.noun} allowlist could not be written`);
    return fail("caller", code, reason);
  }
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
  const { texts, lineOf } = listed.value;
  const items = new Set<string>();
  for (const text of texts) {
    const item = kind.normalize(text);
    if (item === undefined) {
      const message = `Invalid ${kind.noun} ${text} (${kind.key} in line ${lineOf(text)} of ${path})`;
      return fail("local", "unusablePermissions", message);
    }
    items.add(item);
  }
  return ok([...items]);
}
