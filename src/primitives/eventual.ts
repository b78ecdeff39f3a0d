/**
 * A value that is there at once or comes later. Most work ends without waiting, and a promise for each step of a small
 * call would take longer than the call.
 */
export type Eventual<T> = T | Promise<T>;

/** Goes on with a value: at once if it is there. */
export function whenThere<T, U>(value: Eventual<T>, goOn: (value: T) => U): Eventual<U> {
  return value instanceof Promise ? value.then(goOn) : goOn(value);
}
