//! Reads secrets anew for each use.

use std::fmt;
use std::sync::Arc;

use secrecy::SecretString;

/// A secret that is read anew for each use, so that a changed one is taken without a restart.
#[derive(Clone)]
pub struct SecretSource(Arc<dyn Fn() -> Result<SecretString, String> + Send + Sync>);

impl SecretSource {
    /// One that this reads.
    pub fn new(read: impl Fn() -> Result<SecretString, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// Reads it. Blocks.
    ///
    /// # Errors
    /// The reason why it cannot be read, without any of it.
    pub fn read(&self) -> Result<SecretString, String> {
        (self.0)()
    }

    /// Reads it beside the runtime's other work.
    ///
    /// # Errors
    /// The reason why it cannot be read, without any of it.
    pub async fn load(&self) -> Result<SecretString, String> {
        let own = self.clone();
        let read = tokio::task::spawn_blocking(move || own.read()).await;
        read.unwrap_or_else(|_| Err("cannot be read".to_owned()))
    }
}

impl fmt::Debug for SecretSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretSource").finish_non_exhaustive()
    }
}
