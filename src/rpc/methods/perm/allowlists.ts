import { ERRORS, type RpcError } from "../../errors/errors.ts";
import { type Answer, defineMethod, type RpcMethod, required } from "../../method.ts";
import type { AllowlistErrorCode, RpcAllowlist, RpcPermissions } from "../../ports.ts";
import { listOf, TEXT } from "../../schemas.ts";

/**
 * The operator's allowlists (json-rpc.md#perm). Each method has a twin under the name of old, `…Whitelist`.
 */

type ListName = "accounts" | "nodes";

const NOUNS = { accounts: "Accounts", nodes: "Nodes" } as const;

const DISABLED = { accounts: ERRORS.accountListDisabled, nodes: ERRORS.nodeListDisabled } as const;

const FLAWS: Readonly<Record<ListName, Readonly<Record<AllowlistErrorCode, RpcError>>>> = {
  accounts: {
    empty: ERRORS.accountListEmpty,
    invalid: ERRORS.accountInvalid,
    duplicate: ERRORS.accountDuplicated,
    exists: ERRORS.accountExists,
    // No account has to stay.
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
  summary: "Takes over the allowlists as their files have them now.",
  parameters: [],
  result: { name: "success", schema: TEXT },
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
    summary: `The ${list} that are allowed.`,
    parameters: [],
    result: { name: list, schema: listOf(TEXT) },
    run: (_, { backend }) => withList(list, backend.permissions, ({ items }) => items),
  });
}

function changerOf(list: ListName, change: "add" | "remove"): RpcMethod {
  const [verb, where] = change === "add" ? (["add", "To"] as const) : (["remove", "From"] as const);
  return defineMethod({
    name: `perm_${verb}${NOUNS[list]}${where}Allowlist`,
    aliases: [`perm_${verb}${NOUNS[list]}${where}Whitelist`],
    namespace: "PERM",
    summary: `Changes the ${list} that are allowed, here and in the file.`,
    parameters: [required(list, decodeTexts, listOf(TEXT))],
    result: { name: "success", schema: TEXT },
    run: ([texts], { backend }) =>
      withList(list, backend.permissions, (allowlist) => {
        const changed = allowlist[change](texts);
        return changed.ok ? SUCCESS : FLAWS[list][changed.error.code];
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

/** What is no text is no account either, and is told so by the list. */
function decodeTexts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value)
    ? value.map((each: unknown) => (typeof each === "string" ? each : ""))
    : undefined;
}
