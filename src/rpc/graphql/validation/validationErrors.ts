import type { ASTNode } from "graphql";
import { type GraphQlError, locationOf } from "../graphQlError.ts";
import { pathText } from "../javaText.ts";

/** What validation has found, in order, each with the names of the fields and fragments around it. */
export class ValidationErrors {
  readonly list: GraphQlError[] = [];
  private readonly path: string[] = [];

  /** Goes into a field or a fragment. */
  enter(name: string): void {
    this.path.push(name);
  }

  leave(): void {
    this.path.pop();
  }

  add(type: string, at: ASTNode | readonly ASTNode[], text: string): void {
    this.push(at, `Validation error (${this.named(type)}) : ${text}`);
  }

  /** Like `add`, for the one rule whose message has a capital in its middle. */
  addBare(type: string, at: ASTNode, text: string): void {
    this.push(at, `Validation Error (${this.named(type)}) : ${text}`);
  }

  private named(type: string): string {
    return this.path.length === 0 ? type : `${type}@[${pathText(this.path)}]`;
  }

  private push(at: ASTNode | readonly ASTNode[], message: string): void {
    const extensions = { classification: "ValidationError" };
    if (this.list.length >= MOST_ERRORS - 1) {
      const limit = `The maximum number of validation errors has been reached. (${MOST_ERRORS})`;
      this.list.push({ message: limit, extensions });
      throw new ErrorLimitReached();
    }
    const nodes = Array.isArray(at) ? (at as readonly ASTNode[]) : [at as ASTNode];
    this.list.push({ message, locations: nodes.slice(0, MOST_LOCATIONS).map(locationOf), extensions });
  }
}

/** Thrown when there are as many errors as an answer has, as in graphql-java. */
export class ErrorLimitReached extends Error {
  override name = "ErrorLimitReached";
}

const MOST_ERRORS = 100;
/** Besu has no limit for one error. */
const MOST_LOCATIONS = 100;
