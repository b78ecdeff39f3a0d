import type { AllowlistName } from "../../core/core.ts";
import type { AllowlistErrorCode } from "../../core/coreParts.ts";
import { ERRORS, type RpcError } from "../../errors/errors.ts";
import { defineMethod, type RpcMethod, required } from "../../method.ts";
import { listOf, TEXT } from "../../schemas.ts";

/**
 * The operator's allowlists (json-rpc.md#perm). Each method has an alias under its old name, `…Whitelist`.
 */

const NOUNS = { accounts: "Accounts", nodes: "Nodes" } as const;

const DISABLED = { accounts: ERRORS.accountListDisabled, nodes: ERRORS.nodeListDisabled } as const;

const ALLOWLIST_ERRORS: Readonly<Record<AllowlistName, Readonly<Record<AllowlistErrorCode, RpcError>>>> = {
  accounts: {
    empty: ERRORS.accountListEmpty,
    invalid: ERRORS.accountInvalid,
    duplicate: ERRORS.accountDuplicated,
    exists: ERRORS.accountExists,
    // There are no fixed accounts.
    fixed: ERRORS.accountAbsent,
    absent: ERRORS.accountAbsent,
    outOfSync: ERRORS.permissionsOutOfSync,
    notPersisted: ERRORS.permissionsNotPersisted,
  },
  nodes: {
    empty: ERRORS.nodeListEmpty,
    invalid: ERRORS.nodeInvalid,
    duplicate: ERRORS.nodeDuplicated,
    exists: ERRORS.nodeExists,
    fixed: ERRORS.nodeFixed,
    absent: ERRORS.nodeAbsent,
    outOfSync: ERRORS.permissionsOutOfSync,
    notPersisted: ERRORS.permissionsNotPersisted,
  },
};

const SUCCESS = "Success";

/** Most entries of one request: each is read on the thread that makes blocks. */
const ENTRIES_LIMIT = 1000;

export const permGetAccounts = getterOf("accounts");
export const permGetNodes = getterOf("nodes");

export const permAddAccounts = changerOf("accounts", "add");
export const permRemoveAccounts = changerOf("accounts", "remove");
export const permAddNodes = changerOf("nodes", "add");
export const permRemoveNodes = changerOf("nodes", "remove");

export const permReload = defineMethod({
  name: "perm_reloadPermissionsFromFile",
  namespace: "PERM",
  summary: "Reloads the allowlists from their files.",
  parameters: [],
  result: { name: "success", schema: TEXT },
  ports: ["permissions"],
  mayOverlap: "many",
  async run(_, context) {
    const outcome = await context.backend.permissions.reload(context);
    if (outcome === "disabled") return ERRORS.permissionsDisabled;
    return outcome === "reloaded" ? SUCCESS : ERRORS.permissionsNotReloaded;
  },
});

function getterOf(list: AllowlistName): RpcMethod {
  return defineMethod({
    name: `perm_get${NOUNS[list]}Allowlist`,
    aliases: [`perm_get${NOUNS[list]}Whitelist`],
    namespace: "PERM",
    summary: `The allowed ${list}.`,
    parameters: [],
    result: { name: list, schema: listOf(TEXT) },
    ports: ["permissions"],
    mayOverlap: "many",
    async run(_, context) {
      const items = await context.backend.permissions.items(list, context);
      return items === "disabled" ? DISABLED[list] : items;
    },
  });
}

function changerOf(list: AllowlistName, change: "add" | "remove"): RpcMethod {
  const [verb, where] = change === "add" ? (["add", "To"] as const) : (["remove", "From"] as const);
  return defineMethod({
    name: `perm_${verb}${NOUNS[list]}${where}Allowlist`,
    aliases: [`perm_${verb}${NOUNS[list]}${where}Whitelist`],
    namespace: "PERM",
    summary: `Changes the allowed ${list}, in memory and in the file.`,
    parameters: [required(list, decodeTexts, listOf(TEXT))],
    result: { name: "success", schema: TEXT },
    ports: ["permissions"],
    mayOverlap: "many",
    async run([items], context) {
      if (items.length > ENTRIES_LIMIT) return ERRORS.tooManyListed;
      const outcome = await context.backend.permissions.change(list, change, items, context);
      if (outcome === "disabled") return DISABLED[list];
      return outcome === "changed" ? SUCCESS : ALLOWLIST_ERRORS[list][outcome];
    },
  });
}

/** An item that is not text becomes an empty string, which the list refuses as invalid. */
function decodeTexts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value)
    ? value.map((each: unknown) => (typeof each === "string" ? each : ""))
    : undefined;
}
