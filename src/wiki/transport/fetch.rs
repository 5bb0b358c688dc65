//! Sends a request to another server than the wiki, and reads a bounded answer.

use reqwest::{RequestBuilder, StatusCode};

/// Sends a request; the status and the body, of so many bytes at most. Redirects are not followed.
///
/// # Errors
/// Why there is no such answer, as the end of a sentence about the server.
pub async fn fetch(request: RequestBuilder, most: usize) -> Result<(StatusCode, Vec<u8>), String> {
    let read = async {
        let mut answer = request.send().await?;
        let status = answer.status();
        let mut body = Vec::new();
        while let Some(part) = answer.chunk().await? {
            body.extend_from_slice(&part);
            if body.len() > most {
                return Ok(None);
            }
        }
        Ok(Some((status, body)))
    };
    let read: Result<_, reqwest::Error> = read.await;
    match read {
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err(format!("its answer is larger than {} kB", most >> 10)),
        Err(error) if error.is_timeout() => Err("it does not answer in time".to_owned()),
        Err(error) if error.is_connect() => Err("it cannot be reached".to_owned()),
        Err(_) => Err("its answer broke off".to_owned()),
    }
}
