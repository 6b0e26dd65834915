import { useEffect } from 'react';

/**
 * Stands in for the package react-style-singleton, by which Radix locks the page's scrolling: a constructed style sheet
 * needs no exception in the content security policy, an injected `<style>` does.
 */
export function styleSingleton(): (props: { readonly styles: string }) => null {
  return function Style({ styles }) {
    useEffect(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(styles);
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
      return () => {
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
      };
    }, [styles]);
    return null;
  };
}
