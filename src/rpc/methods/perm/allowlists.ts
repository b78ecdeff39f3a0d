import { ERRORS, type RpcError } from "../../errors/errors.ts";
import { type Answer, defineMethod, type RpcMethod, required } from "../../method.ts";
import type { AllowlistErrorCode, RpcAllowlist, RpcPermissions } from "../../ports.ts";
import { listOf, TEXT } from "../../schemas.ts";

/**
 * The operator's allowlists (json-rpc.md#perm). Each method has an alias under its old name, `…Whitelist`.
 */

type ListName = "accounts" | "nodes";

const NOUNS = { accounts: "Accounts", nodes: "Nodes" } as const;

const DISABLED = { accounts: ERRORS.accountListDisabled, nodes: ERRORS.nodeListDisabled } as const;

const ALLOWLIST_ERRORS: Readonly<Record<ListName, Readonly<Record<AllowlistErrorCode, RpcError>>>> = {
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
  run(_, { backend: { permissions } }) {
    if (permissions.accounts === undefined && permissions.nodes === undefined) {
      return ERRORS.permissionsDisabled;
    }
    return permissions.reload().ok ? SUCCESS : ERRORS.permissionsNotReloaded;
  },
});

function getterOf(list: ListName): RpcMethod {
  return defineMethod({
    name: `perm_get${NOUNS[list]}Allowlist`,
    aliases: [`perm_get${NOUNS[list]}Whitelist`],
    namespace: "PERM",
    summary: `The allowed ${list}.`,
    parameters: [],
    result: { name: list, schema: listOf(TEXT) },
    ports: ["permissions"],
    run: (_, { backend }) => withList(list, backend.permissions, ({ items }) => items),
  });
}

function changerOf(list: ListName, change: "add" | "remove"): RpcMethod {
  const [verb, where] = change === "add" ? (["add", "To"] as const) : (["remove", "From"] as const);
  return defineMethod({
    name: `perm_${verb}${NOUNS[list]}${where}Allowlist`,
    aliases: [`perm_${verb}${NOUNS[list]}${where}Whitelist`],
    namespace: "PERM",
    summary: `Changes the allowed ${list}, in memory and in the file.`,
    parameters: [required(list, decodeTexts, listOf(TEXT))],
    result: { name: "success", schema: TEXT },
    ports: ["permissions"],
    run: ([texts], { backend }) =>
      withList(list, backend.permissions, (allowlist) => {
        const changed = allowlist[change](texts);
        return changed.ok ? SUCCESS : ALLOWLIST_ERRORS[list][changed.error.code];
      }),
  });
}

function withList(
  list: ListName,
  permissions: RpcPermissions,
  answer: (list: RpcAllowlist) => Answer,
): Answer {
  const allowlist = permissions[list];
  return allowlist === undefined ? DISABLED[list] : answer(allowlist);
}

/** An item that is not text becomes an empty string, which the list refuses as invalid. */
function decodeTexts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value)
    ? value.map((each: unknown) => (typeof each === "string" ? each : ""))
    : undefined;
}
