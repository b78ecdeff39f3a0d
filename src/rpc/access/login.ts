/** Checks a name and a password. */
export type Login = (attempt: LoginAttempt) => Promise<LoginAnswer>;

export interface LoginAttempt {
  readonly name: string;
  readonly password: string;
  readonly remoteHost: string;
}

/** A token, "wrong" for an unknown name or another password, or "busy" when too many try. */
export type LoginAnswer = { readonly token: string } | "wrong" | "busy";
