import { createHmac, randomBytes } from "node:crypto";
import { LONGEST_NAME } from "../../config/credentialsFile.ts";
import type { UserSettings } from "../../config/settings.ts";
import type { Login } from "../../rpc/access/login.ts";
import type { PasswordChecker } from "./passwords.ts";
import type { TokenIssuer } from "./tokenIssuer.ts";
import type { WrongLogins } from "./wrongLogins.ts";

interface LoginParts {
  /** The users of now: the operator may change them. */
  readonly users: () => readonly UserSettings[];
  readonly issuer: TokenIssuer;
  readonly passwords: Pick<PasswordChecker, "check">;
  readonly wrongLogins: WrongLogins;
}

/**
 * Logs users in. An unknown name takes the time of a known one: its password is compared with the hash of some user, always
 * the same one, and the outcome does not matter.
 */
export function createLogin({ users, issuer, passwords, wrongLogins }: LoginParts): Login {
  const secret = randomBytes(32);

  function decoyFor(name: string): UserSettings | undefined {
    const all = users();
    const number = createHmac("sha256", secret).update(name).digest().readUInt32BE();
    return all[number % all.length];
  }

  return async ({ name: given, password, remoteHost }) => {
    const name = given.slice(0, LONGEST_NAME);
    if (wrongLogins.areTooMany(remoteHost, name)) return "busy";
    const user = users().find((one) => one.name === given);
    const compared = user ?? decoyFor(name);
    if (compared === undefined) return "wrong";
    const isRight = await passwords.check(
      { password, hash: compared.passwordHash },
      // Asked again when its turn comes: many may have been sent at one time.
      { remoteHost, isAbandoned: () => wrongLogins.areTooMany(remoteHost, name) },
    );
    if (isRight === "busy") return "busy";
    if (!isRight || user === undefined) {
      wrongLogins.wrong(remoteHost, name);
      return "wrong";
    }
    wrongLogins.right(remoteHost, name);
    return { token: await issuer.issue(user) };
  };
}
