import { parse, TomlDate, TomlError, type TomlTable, type TomlValue } from "smol-toml";
import { fail, ok, type Result } from "../primitives/result.ts";
import { GRAPHQL, permissionsFor } from "../rpc/access/grant.ts";
import { LONGEST_TOKEN } from "../rpc/access/limits.ts";
import { KNOWN_METHODS } from "../rpc/knownMethods.ts";
import type { UserSettings } from "./settings.ts";

/**
 * The users of a credentials file (json-rpc-errors.md#authentication), a table for each:
 *
 *     [Users.alice]
 *     password = "$2a$10$…"               the bcrypt hash that `password hash` prints
 *     permissions = ["eth:*", "net:version"]
 *
 * `groups`, `roles` and `privacyPublicKey` may be there, as in Besu, and grant nothing.
 */
export function readCredentials(text: string): Result<readonly UserSettings[], "badCredentials"> {
  let document: TomlTable;
  try {
    document = parse(text.replace(/^\ufeff/, ""), { integersAsBigInt: true });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    return bad(`line ${error.line} is not TOML`);
  }
  const { Users: table } = document;
  if (!isTable(table)) return bad("it has no users: each is a table such as [Users.alice]");
  const users: UserSettings[] = [];
  for (const [name, value] of namedTables(table)) {
    const user = readUser(name, value);
    if (!user.ok) return user;
    if (users.some((other) => other.name === name)) return bad(`'${name}' is there twice`);
    users.push(user.value);
    if (users.length > MOST_USERS) return bad(`it has more than ${MOST_USERS} users`);
  }
  if (users.length === 0) return bad("it has no users: each is a table such as [Users.alice]");
  return ok(users);
}

type NamedValue = readonly [name: string, value: TomlValue];

/** The tables of users by name. That of `a.b` is `[Users.a.b]`, as in Besu, which TOML reads as one within another, or `[Users."a.b"]`. */
function namedTables(table: TomlTable, depth = 0): readonly NamedValue[] {
  return Object.entries(table).flatMap(([name, value]): readonly NamedValue[] => {
    if (!isTable(value) || depth > LONGEST_NAME) return [[name, value]];
    const within = Object.entries(value).filter(([, inner]) => isTable(inner));
    const isUser = within.length === 0 || value["password"] !== undefined;
    const deeper = namedTables(Object.fromEntries(within), depth + 1).map(
      ([inner, one]): NamedValue => [`${name}.${inner}`, one],
    );
    return isUser ? [[name, value], ...deeper] : deeper;
  });
}

const MOST_USERS = 1000;
const MOST_PERMISSIONS = 200;
/** Bytes of name and permissions as JSON, which a token of LONGEST_TOKEN characters has room for, beside 500 others. */
const MOST_CLAIM_BYTES = ((LONGEST_TOKEN - 500) * 3) / 4;
/** Characters of a name, and of a permission. */
export const LONGEST_NAME = 256;
/** Every further one doubles the time of a check, which with 14 is about a second. */
const MOST_ROUNDS = 14;
const FEWEST_ROUNDS = 4;

const HASH = /^\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}$/;

function readUser(name: string, value: TomlValue): Result<UserSettings, "badCredentials"> {
  if (!isTable(value)) return bad(`'${name}' is not a table such as [Users.${name}]`);
  if (name.length > LONGEST_NAME) return bad(`a name has more than ${LONGEST_NAME} characters`);
  const { password: passwordHash, permissions = [] } = value;
  if (typeof passwordHash !== "string" || passwordHash === "")
    return bad(`RPC user specified without password: '${name}' has none`);
  const [, rounds] = HASH.exec(passwordHash) ?? [];
  if (rounds === undefined)
    return bad(`the password of '${name}' is not a bcrypt hash, as 'password hash' prints it`);
  if (Number(rounds) < FEWEST_ROUNDS || Number(rounds) > MOST_ROUNDS)
    return bad(
      `the password of '${name}' has ${rounds} rounds of bcrypt; accepted: ${FEWEST_ROUNDS} to ${MOST_ROUNDS}`,
    );
  if (!isTexts(permissions)) return bad(`the permissions of '${name}' are not a list of texts`);
  if (permissions.length > MOST_PERMISSIONS)
    return bad(`'${name}' has more than ${MOST_PERMISSIONS} permissions`);
  if (permissions.some(({ length }) => length > LONGEST_NAME))
    return bad(`a permission of '${name}' has more than ${LONGEST_NAME} characters`);
  const claimBytes = Buffer.byteLength(JSON.stringify([name, ...permissions]));
  if (claimBytes > MOST_CLAIM_BYTES)
    return bad(
      `the permissions of '${name}' have ${claimBytes} bytes with the name, more than the ${MOST_CLAIM_BYTES} that fit into a token`,
    );
  return ok({ name, passwordHash, permissions });
}

/** Permissions that allow no method of Besu or of this node, such as misspelt ones; each once. */
export function idlePermissions(users: readonly UserSettings[]): readonly string[] {
  const given = new Set(users.flatMap(({ permissions }) => permissions));
  return [...given].filter((permission) => !ALL_PERMISSIONS.has(permission));
}

const ALL_PERMISSIONS: ReadonlySet<string> = new Set(
  [...KNOWN_METHODS, GRAPHQL.name].flatMap((name) => permissionsFor({ name })),
);

function isTexts(value: TomlValue): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isTable(value: TomlValue | undefined): value is TomlTable {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof TomlDate);
}

function bad(message: string): Result<never, "badCredentials"> {
  return fail("caller", "badCredentials", message);
}
