import type { MethodDescription } from "../method.ts";

/** The methods that a caller may use. */
export interface Grant {
  allows(method: Named): boolean;
  /** When the token ceases to count, milliseconds of the epoch; undefined without one. */
  readonly expiresAtMs?: number | undefined;
}

/** What a grant must allow for GraphQL, which answers what the group eth does: `eth:*`, `eth:graphql` or `*:*` permits it. */
export const GRAPHQL = { name: "eth_graphql" } as const;

type Named = Pick<MethodDescription, "name" | "aliases">;

/** Methods that need no token; nothing else. */
export function grantOpenMethods(openMethods: ReadonlySet<string>): Grant {
  return { allows: (method) => isOpen(method, openMethods) };
}

/**
 * What a token's permissions allow (json-rpc-errors.md#authentication): `*:*` all methods, `eth:*` those whose names begin
 * with `eth_`, `eth:call` one. The methods without token are allowed, too.
 */
export function grantPermissions(
  permissions: ReadonlySet<string>,
  openMethods: ReadonlySet<string>,
  expiresAtMs?: number,
): Grant {
  const known = new Map<string, boolean>();
  return {
    expiresAtMs,
    allows(method) {
      let allowed = known.get(method.name);
      if (allowed === undefined) {
        allowed = permissionsFor(method).some((one) => permissions.has(one)) || isOpen(method, openMethods);
        known.set(method.name, allowed);
      }
      return allowed;
    },
  };
}

/** The permissions of which any one allows the method. `rpc.discover` counts as `rpc:discover`. */
export function permissionsFor({ name }: Pick<Named, "name">): readonly string[] {
  const group = name.split(/[_.]/, 1)[0] ?? name;
  return ["*:*", `${group}:*`, name.replaceAll(/[_.]/g, ":")];
}

function isOpen({ name, aliases = [] }: Named, openMethods: ReadonlySet<string>): boolean {
  return openMethods.has(name) || aliases.some((alias) => openMethods.has(alias));
}
