import { createPublicKey, type KeyObject } from "node:crypto";
import { resolve } from "node:path";
import { messageOf } from "../primitives/errorMessage.ts";
import { fail, ok, type Result } from "../primitives/result.ts";
import { forServers, GUARDED_SERVERS, type GuardedServerName } from "../rpc/server/serverTable.ts";
import { idlePermissions, readCredentials } from "./credentialsFile.ts";
import { type Diagnostics, report } from "./diagnostics.ts";
import type { OptionName } from "./options.ts";
import type { ResolvedOptions } from "./precedence.ts";
import type {
  AuthenticationSettings,
  TokenAlgorithm,
  TokenIssuerSettings,
  UserSettings,
} from "./settings.ts";
import { readSmallFile } from "./smallFile.ts";

const HTTP_OPTIONS = {
  authentication: "rpc-http-authentication-enabled",
  credentials: "rpc-http-authentication-credentials-file",
  publicKey: "rpc-http-authentication-jwt-public-key-file",
  algorithm: "rpc-http-authentication-jwt-algorithm",
  audience: "rpc-http-authentication-jwt-audience",
  openMethods: "rpc-http-api-method-no-auth",
  names: { endpoint: "HTTP", file: "HTTP" },
} as const;

/** The options of each server, and its names in Besu's messages. GraphQL takes the callers of JSON-RPC over HTTP. */
const OPTIONS = {
  http: { server: "rpc-http-enabled", ...HTTP_OPTIONS },
  graphQl: { server: "graphql-http-enabled", ...HTTP_OPTIONS },
  webSocket: {
    server: "rpc-ws-enabled",
    authentication: "rpc-ws-authentication-enabled",
    credentials: "rpc-ws-authentication-credentials-file",
    publicKey: "rpc-ws-authentication-jwt-public-key-file",
    algorithm: "rpc-ws-authentication-jwt-algorithm",
    audience: "rpc-ws-authentication-jwt-audience",
    openMethods: "rpc-ws-api-method-no-auth",
    names: { endpoint: "WebSocket", file: "WS" },
  },
} as const;

type ServerOptions = (typeof OPTIONS)[keyof typeof OPTIONS];

/** Who may call each server; undefined for everybody. */
export type Authentication = Readonly<Record<GuardedServerName, AuthenticationSettings | undefined>>;

/**
 * Reads the files of users and keys (json-rpc-errors.md#authentication). Messages begin with Besu's. A file that cannot be
 * used is a problem: the server would be open, or closed to everybody.
 */
export function readAuthentication(
  options: ResolvedOptions,
  workingDirectory: string,
): Authentication & Diagnostics {
  const found = { problems: new Set<string>(), warnings: new Set<string>() };
  const of = (server: ServerOptions): AuthenticationSettings | undefined => {
    if (!isOn(options, server)) return undefined;
    const read = readServer(options, server, workingDirectory);
    if (read.ok) for (const warning of warningsOf(options, server, read.value)) found.warnings.add(warning);
    else found.problems.add(read.error.message);
    return read.ok ? read.value : undefined;
  };
  const all = forServers(GUARDED_SERVERS, (name) => of(OPTIONS[name]));
  return { ...all, problems: [...found.problems], warnings: [...found.warnings] };
}

/** The files that a running node reads again, as given. */
export function authenticationFiles(options: ResolvedOptions): readonly string[] {
  const { values } = options;
  const files = Object.values(OPTIONS).flatMap((server) => {
    if (!isOn(options, server)) return [];
    return [values[server.credentials], values[server.publicKey]].filter((path) => path !== undefined);
  });
  return [...new Set(files)];
}

function isOn({ values }: ResolvedOptions, { server, authentication }: ServerOptions): boolean {
  return values[server] && values[authentication];
}

function readServer(
  options: ResolvedOptions,
  { names, ...server }: ServerOptions,
  workingDirectory: string,
): Result<AuthenticationSettings, "unusable"> {
  const { values } = options;
  const { [server.credentials]: credentials, [server.publicKey]: publicKey } = values;
  const openMethods = values[server.openMethods];
  const misconfigured = (problem: string, ...involved: readonly OptionName[]): Result<never, "unusable"> =>
    fail("caller", "unusable", report(options, problem, ...involved));

  if (publicKey !== undefined) {
    const path = resolve(workingDirectory, publicKey);
    const issuer = readIssuer(path, {
      algorithm: values[server.algorithm],
      audience: values[server.audience],
    });
    if (issuer.ok) return ok({ users: undefined, issuer: issuer.value, openMethods });
    return misconfigured(
      `Authentication RPC public key ${path} cannot be used: ${issuer.error.message}`,
      server.publicKey,
      server.algorithm,
    );
  }
  if (credentials === undefined)
    return misconfigured(
      `Unable to authenticate JSON-RPC ${names.endpoint} endpoint without a supplied credentials file or authentication public key file`,
      server.authentication,
    );
  const path = resolve(workingDirectory, credentials);
  const users = readUsers(path);
  if (users.ok) return ok({ users: users.value, issuer: undefined, openMethods });
  const problem =
    users.error.code === "absent"
      ? `The specified RPC ${names.file} authentication credential file '${path}' does not exist`
      : `Invalid RPC ${names.file} authentication credentials file: ${path}: ${users.error.message}`;
  return misconfigured(problem, server.credentials);
}

function warningsOf(
  { values }: ResolvedOptions,
  server: ServerOptions,
  { users = [] }: AuthenticationSettings,
): string[] {
  const { [server.credentials]: credentials, [server.publicKey]: publicKey } = values;
  const warnings: string[] = [];
  if (credentials !== undefined && publicKey !== undefined)
    warnings.push(
      `--${server.credentials} has no effect: tokens come from the owner of --${server.publicKey}, and nobody can log in.`,
    );
  const idle = idlePermissions(users);
  if (idle.length > 0)
    warnings.push(
      `Permissions in ${credentials} that allow no method: ${idle.slice(0, SHOWN_PERMISSIONS).join(", ")}${idle.length > SHOWN_PERMISSIONS ? ", …" : ""}.`,
    );
  return warnings;
}

const SHOWN_PERMISSIONS = 5;

function readUsers(
  path: string,
): Result<readonly UserSettings[], "absent" | "unreadable" | "badCredentials"> {
  const text = readSmallFile(path);
  return text.ok ? readCredentials(text.value) : text;
}

function readIssuer(
  path: string,
  {
    algorithm,
    audience,
  }: { readonly algorithm: TokenAlgorithm | "HS256"; readonly audience: string | undefined },
): Result<TokenIssuerSettings, "unusable"> {
  if (algorithm === "HS256")
    return unusable("with HS256 everybody who knows the public key could make tokens; choose RS256 or ES256");
  const text = readSmallFile(path);
  if (!text.ok) return unusable(text.error.message);
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text.value))
    return unusable(
      "it holds a private key, which belongs to the issuer of tokens alone; give its public key",
    );
  let key: KeyObject;
  try {
    key = createPublicKey(text.value);
  } catch (error) {
    return unusable(`its format is invalid, a public key in PEM is expected (${messageOf(error)})`);
  }
  const problem = misfit(key, algorithm);
  return problem === undefined ? ok({ publicKey: text.value, algorithm, audience }) : unusable(problem);
}

/** The curve of each algorithm of elliptic curves. */
const CURVES: Readonly<Record<string, string>> = {
  ES256: "prime256v1",
  ES384: "secp384r1",
  ES512: "secp521r1",
};
/** Smallest key with which jose checks signatures. */
const SMALLEST_RSA_BITS = 2048;
/** Largest key that is accepted: with more bits, a check takes milliseconds. */
const LARGEST_RSA_BITS = 8192;
/** Largest exponent that is accepted: with a larger one a check takes milliseconds, and with 1 every text is a signature. */
const LARGEST_RSA_EXPONENT = 1n << 64n;

function misfit(
  { asymmetricKeyType, asymmetricKeyDetails }: KeyObject,
  algorithm: TokenAlgorithm,
): string | undefined {
  const curve = CURVES[algorithm];
  if (curve !== undefined) {
    const isCurve = asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === curve;
    return isCurve ? undefined : `${algorithm} needs a key on the curve ${curve}`;
  }
  if (asymmetricKeyType !== "rsa") return `${algorithm} needs an RSA key`;
  const { modulusLength: bits = 0, publicExponent: exponent = 0n } = asymmetricKeyDetails ?? {};
  if (bits < SMALLEST_RSA_BITS || bits > LARGEST_RSA_BITS)
    return `an RSA key of ${SMALLEST_RSA_BITS} to ${LARGEST_RSA_BITS} bits is expected, it has ${bits}`;
  if (exponent >= 3n && exponent % 2n === 1n && exponent < LARGEST_RSA_EXPONENT) return undefined;
  return "an RSA key with an odd public exponent from 3 to 64 bits is expected; usual is 65537";
}

function unusable(message: string): Result<never, "unusable"> {
  return fail("caller", "unusable", message);
}
